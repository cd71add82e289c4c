# The training image: what runs training and evaluations. Its context is the copy of its build inputs, and nothing else:
#   docker build -f docker/train.Dockerfile "$(aifactory image path train)"
FROM python:3.12-slim-bookworm AS environment
COPY locks/train.lock /build/train.lock
RUN python -m venv /opt/environment \
 && /opt/environment/bin/pip install --no-cache-dir --no-deps --requirement /build/train.lock

FROM python:3.12-slim-bookworm
# Triton compiles its launchers with gcc, and Ray looks at processes with ps; the slim base has neither.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev procps \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --create-home factory
COPY --from=environment /opt/environment /opt/environment
COPY src /opt/aifactory/src
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONPATH=/opt/aifactory/src:/opt/aifactory \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
ENTRYPOINT ["python", "-m", "aifactory.run"]
