#!/bin/sh
# Prints the interpreter of the first environment named, after making the environments named (control, dev, ...).
# Any Python from 3.9 on can start this: bootstrap.py then looks for, or fetches, the one that the project runs on.
here=$(dirname "$0")
for python in "${AIFACTORY_STATE:-$here/../../../.aifactory}/uv/bin/python" python3.12 python3 python \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        exec "$python" "$here/bootstrap.py" "$@"
    fi
done
if command -v uv >/dev/null 2>&1; then
    exec uv run --quiet --no-project --python 3.12 python "$here/bootstrap.py" "$@"
fi
echo "no Python was found on PATH or under ~/.pyenv" >&2
echo "  fix: install Python 3.12 (apt install python3.12 python3.12-venv, or pyenv install 3.12), then run make again" >&2
exit 1
