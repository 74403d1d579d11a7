# `make` or `make help` shows what there is to do.

.DEFAULT_GOAL := help
.PHONY: help run tour test check soak bench bench-mcp

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build, and start the server
	cargo run --locked --quiet -p toolgate -- serve

tour: ## Build, and play a short guided tour on the command line
	cargo run --locked --quiet -p toolgate -- tour

test: check ## Check, and run every test
	cargo test --locked --workspace --all-targets
	cargo test --locked --workspace --doc

check: ## Formatting, lints and documentation, without warnings
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet

soak: ## Serve five minutes of mixed traffic, then 1,000 hostile commands, and look at what is left
	TOOLGATE_SOAK_SECONDS=300 cargo test --locked --workspace --test soak
	HOSTILE_COMMANDS=1000 cargo test --locked --workspace --test hostile -- --nocapture

bench: ## Measure what the gate costs (release build; use an idle machine)
	cargo run --locked --release --quiet -p toolgate -- bench

bench-mcp: ## Compare a call over MCP with a bare rmcp server and FastMCP (FASTMCP=a Python that has it)
	cargo build --locked --release --quiet -p toolgate
	cargo build --locked --profile alike --features alike --quiet --manifest-path bench/mcp/Cargo.toml
	cargo run --locked --release --quiet --manifest-path bench/mcp/Cargo.toml -- \
		--toolgate $${CARGO_TARGET_DIR:-target}/release/toolgate \
		--rmcp-alike $${CARGO_TARGET_DIR:-bench/mcp/target}/alike/mcp-bench $(if $(FASTMCP),--fastmcp $(FASTMCP))
