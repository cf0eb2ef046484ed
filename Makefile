# Everything a newcomer needs: `make demo` shows what tophalf does, `make test` runs every check.
# On Debian 12 with Rust, as root; what else is missing is installed by apt.

CARGO ?= cargo
PHONE := target/release/virtual-phone
TOPHALF := target/release/tophalf
# An adb server of its own, so that phones on this desk are left alone.
PRIVATE_ADB := ANDROID_ADB_SERVER_PORT=15037

.PHONY: setup demo test lint unit agents-test scenarios repeatable campaign calibration bench bench-compare

setup:
	$(CARGO) build --locked --release -p tophalf -p virtual-phone
	$(PHONE) setup --install-host-packages
	$(CARGO) ndk-build --install

demo: setup
	$(PRIVATE_ADB) sh tests/demo.sh $(PHONE) $(TOPHALF)

test: setup lint unit agents-test scenarios

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --features virtual-phone/phones -- -D warnings

unit:
	$(CARGO) test --locked --workspace

# The agent's tests again, as the static aarch64 program that a phone runs; and the Android flavour's types.
agents-test:
	$(CARGO) ndk-build test
	$(CARGO) ndk-build --flavor ndk --check-only

# The real command on virtual phones, one after the other.
scenarios: setup
	$(PRIVATE_ADB) $(CARGO) test --locked -p virtual-phone --features phones --test scenarios -- --test-threads=1
	-$(PRIVATE_ADB) adb kill-server

# Guest time as a count of instructions: needs a quiet machine, so it is no part of `make test`.
repeatable: setup
	$(PRIVATE_ADB) sh tests/repeatable.sh $(PHONE) $(TOPHALF)

# Kernels against one another over twenty boots, which a second call goes on with: needs a quiet machine too.
campaign: setup
	$(PRIVATE_ADB) sh tests/campaign.sh $(PHONE) $(TOPHALF)

# How often two equal sides are called different, and how often an interval holds the truth, on simulated devices.
calibration:
	TOPHALF_REPLICATES=20000 $(CARGO) test --locked --release -p tophalf --test statistics -- --nocapture --test-threads=1 calibration

# Ratios against fio and a bare loop on zram0: as root, on a quiet machine.
bench: setup
	command -v fio >/dev/null || apt-get install -y --no-install-recommends fio
	modprobe zram 2>/dev/null || true
	$(CARGO) bench --locked -p virtual-phone --bench zram

# 10,000 stored runs compared: seconds, peak memory, growth. Takes 2 GB below target for some minutes.
bench-compare:
	$(CARGO) bench --locked -p tophalf --bench compare
