# Two commands to remember: make demo, make test. The rest is for work on the factory; `make help` lists it.
.PHONY: help demo ui down status test check format locks zone pictures bench clean
.DEFAULT_GOAL := help

boot = src/aifactory/laptop/bootstrap.sh
# in,<environments>: the recipe's command runs in the first environment named; all of them are made first.
in = python=$$(sh $(boot) $(1)) && exec "$$python"
checks = for check in "ruff check" "ruff format --check" mypy lint-imports; do \
	    "$${python%/*}"/$$check || { echo "failed: $$check" >&2; status=1; }; done
ARGS ?=

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## ?/\1\t/' | awk -F '\t' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: ## the whole path, once: datasets, checks, training, evaluations, results (a second run shows them)
	@$(call in,control) -m aifactory.laptop demo $(ARGS)

ui: ## start Dagster (code server, daemon, web server) and print the address of its UI
	@$(call in,control) -m aifactory.laptop ui $(ARGS)

down: ## end every run and every service
	@$(call in,control) -m aifactory.laptop down $(ARGS)

status: ## which services run, and where
	@$(call in,control) -m aifactory.laptop status $(ARGS)

test: ## checks, then the whole test suite; what this machine can't run is counted and named at the end
	@python=$$(sh $(boot) dev control data crossing train) || exit 1; status=0; \
	$(checks); "$$python" -m pytest $(ARGS) || status=1; exit $$status

check: ## lint, format, types, import layers
	@python=$$(sh $(boot) dev) || exit 1; status=0; $(checks); exit $$status

format: ## rewrite the sources as the linter wants them
	@python=$$(sh $(boot) dev) && "$$python" -m ruff check --fix-only --quiet . && "$$python" -m ruff format .

locks: ## resolve all environments again, together; UPGRADE=1 takes newer versions
	@python=$$(sh $(boot) control) || exit 1; \
	compile="$$python -m uv pip compile --quiet --universal --python-version 3.12 --no-header --no-annotate $(if $(UPGRADE),--upgrade,)"; \
	$$compile --group dev --output-file locks/dev.lock || exit 1; \
	for name in control data train; do \
	    $$compile --group $$name --constraints locks/dev.lock --output-file locks/$$name.lock || exit 1; \
	done; grep -v '^numpy==' locks/dev.lock > .aifactory/shared.lock && \
	$$compile --group crossing --constraints .aifactory/shared.lock --output-file locks/crossing.lock || exit 1; \
	git diff --stat -- locks

zone: ## fill the folder ZONE with the invented notes of the crossing's example
	@$(call in,crossing) -m synthetic.clinic --zone "$(ZONE)" $(ARGS)

pictures: ## the screenshots of docs/images, from a real browser
	@export AIFACTORY_PICTURES=docs/images; $(call in,dev control data crossing train) -m pytest tests/browser tests/launch/kuberay/test_pictures.py $(ARGS)

bench: ## the benchmarks; their figures stand in benchmarks/README.md
	@python=$$(sh $(boot) dev control data crossing train) && "$$python" benchmarks/load.py $(ARGS) && \
	"$$python" benchmarks/gate.py && "$$python" benchmarks/evaluation_latency.py

clean: down ## remove everything that was made here: .aifactory, with its snapshots, runs and environments
	@rm -rf .aifactory
