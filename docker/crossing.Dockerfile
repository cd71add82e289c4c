# The crossing image: what runs the builds that cross from the restricted zone. Its context is the copy of its build inputs, and nothing else:
#   docker build -f docker/crossing.Dockerfile "$(aifactory image path crossing)"
FROM python:3.12-slim-bookworm AS environment
COPY locks/crossing.lock /build/crossing.lock
RUN python -m venv /opt/environment \
 && /opt/environment/bin/pip install --no-cache-dir --no-deps --requirement /build/crossing.lock

FROM python:3.12-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp factory
COPY --from=environment /opt/environment /opt/environment
COPY src /opt/aifactory/src
COPY assets /opt/aifactory/assets
COPY checks /opt/aifactory/checks
ENV PATH=/opt/environment/bin:$PATH \
    PYTHONPATH=/opt/aifactory/src:/opt/aifactory \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
ENTRYPOINT ["python", "-m", "aifactory.run"]
