# The training image: what runs training and evaluations. Its context is the copy of its build inputs, and nothing else:
#   docker build -f docker/train.Dockerfile "$(aifactory image path train)"
# BASE: a Debian with Python 3.12. CACHE: a folder for uv that the build mounts (it is no part of the image).
ARG BASE=python:3.12-slim-bookworm

# One layer of 6 GB, made again only for another lock. Sources are a small layer above it.
FROM ${BASE} AS dependencies
# Triton compiles its launchers with gcc, and Ray looks at processes with ps; a slim base has neither.
RUN { command -v gcc && command -v ps; } >/dev/null \
 || { apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev procps && rm -rf /var/lib/apt/lists/*; }
# KubeRay's own images run as this user too, and the manifests ask for it.
RUN useradd --uid 1000 --user-group --create-home factory
COPY locks/train.lock /build/train.lock
ARG CACHE=/build/cache
# Byte code is made here, since the user of a pod may not write it.
RUN export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
 && export UV_CACHE_DIR=${CACHE} UV_LINK_MODE=copy UV_NO_PROGRESS=1 \
 && python3.12 -m venv /build/uv && /build/uv/bin/pip install --quiet --no-cache-dir uv==0.13.9 \
 && /build/uv/bin/uv venv --quiet --python "$(command -v python3.12)" /opt/environment \
 && /build/uv/bin/uv pip install --quiet --python /opt/environment/bin/python --compile-bytecode --no-deps -r /build/train.lock \
 && rm -rf /build/uv /build/cache
ENV PATH=/opt/environment/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONPATH=/opt/aifactory/src:/opt/aifactory \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    RAY_USAGE_STATS_ENABLED=0
USER 1000:1000
ENTRYPOINT ["python", "-m", "aifactory.run"]

FROM dependencies
COPY src /opt/aifactory/src
