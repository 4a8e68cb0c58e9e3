# Everything does its own set-up: see scripts/setup.sh for what it installs and
# where. The work is in scripts/; here are the names.
.DEFAULT_GOAL := help
.PHONY: help run build web test bench soak clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build all and play: ARGS="--netsim latency=80ms,jitter=20ms,loss=3%"
	@scripts/run.sh $(ARGS)

build: ## build bin/gatehouse
	@scripts/build.sh

web: ## build the pages into web/dist
	@scripts/web.sh

test: ## run all tests, or PARTS="style units transports whole web browser"
	@scripts/test.sh $(PARTS)

bench: ## measure against bare floors, side by side
	@scripts/bench.sh $(ARGS)

soak: ## let bots of every transport play for MINUTES (10) and look for leaks
	@scripts/soak.sh $(MINUTES)

clean: ## remove what was built
	rm -rf bin web/dist
