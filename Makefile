# make demo      the whole story on this machine, from a clean clone
# make test      all tests that need neither root nor a LAN
# make test-lan  the tests on a LAN of network namespaces (root)
# make test-wifi the tool on real Wi-Fi in a virtual machine, where the rig for it is there
# make flood     a million forged replies to a scan on loopback, and the memory that they leave
# make simulate  SEEDS=N new worlds in which sessions are mistreated; SEED=N replays one with its whole trace
# make shake     N new worlds (SEEDS=N) in which real sessions and a real listener are mistreated over sockets; SEED=N replays one
# make bench     measurements, built for release
# make embedded builds FrameCodec as firmware would, with Embedded Swift, and prints the code sizes
# make fuzz     libFuzzer with the address sanitizer over every parser; FOR=10m for longer
# make install   a release build that needs no Swift, with manual page and completions, into $(DESTDIR)$(PREFIX)
# make deb       the same as a Debian package in dist/; make test-deb installs it into a clean Debian and runs the demo there (root)
# make docs      the API documentation, by docc; fails at a warning, and at a public symbol without documentation
# make portable  builds without what needs Linux, and runs the demonstration that way: docs/porting.md
# make sanitize  the tests of TLS and trust with the address and the thread sanitizer, each in a build of its own; long
# make format    formats the code; make lint only looks
SWIFT := $(shell command -v swift || echo /opt/swift/usr/bin/swift)
CODE := Sources Tests Package.swift
# Many tests talk to processes that they start: all at once, none of them would have its turn in time.
SOME_AT_A_TIME := --experimental-maximum-parallelization-width 8
NAMESPACES_REFUSED := test-lan makes network namespaces and needs root with the right to (CAP_SYS_ADMIN, CAP_NET_ADMIN): try sudo make test-lan

FOR := 60s

PREFIX ?= /usr/local
DESTDIR ?=
# Swift's libraries linked in, and no symbols: users' machines have neither Swift nor a use for those.
RELEASE := -c release --static-swift-stdlib --scratch-path .build/static -Xlinker -s --product wifictl

.PHONY: portable docs release install deb test-deb build demo test test-lan test-wifi flood simulate shake bench embedded
.PHONY: fuzz sanitize format lint setup clean

build: setup
	$(SWIFT) build --product wifictl

demo: setup
	$(SWIFT) build --product wifictl
	@"$$($(SWIFT) build --show-bin-path)/wifictl" demo

test:
	@.ci/setup.sh test
	$(SWIFT) test $(SOME_AT_A_TIME)

test-lan:
	@.ci/setup.sh lan
	@unshare --net true 2>/dev/null || { echo "$(NAMESPACES_REFUSED)" >&2; exit 1; }
	WIFI_LAN_TESTS=1 $(SWIFT) test $(SOME_AT_A_TIME) --filter "LANTests|RestoreTests"

test-wifi: setup
	$(SWIFT) build --product wifictl
	@.ci/test-wifi.sh "$$($(SWIFT) build --show-bin-path)/wifictl"

flood: setup
	$(SWIFT) build -c release --product wifictl
	@Tests/Flood/flood.py "$$($(SWIFT) build -c release --show-bin-path)/wifictl" 1000000

SEEDS ?= 2000

simulate: setup
	$(SWIFT) build -c release --product simulate
	@"$$($(SWIFT) build -c release --show-bin-path)/simulate" $(if $(SEED),--seed $(SEED),$(SEEDS))

shake: setup
	$(SWIFT) build --product shake
	@"$$($(SWIFT) build --show-bin-path)/shake" $(if $(SEED),--seed $(SEED),$(SEEDS))

bench: setup
	$(SWIFT) build -c release --product wifictl
	@"$$($(SWIFT) build -c release --show-bin-path)/wifictl" bench

embedded:
	@.ci/embedded.sh

fuzz: setup
	SWIFTC=$(SWIFT)c Tests/Fuzz/run.sh $(FOR)
	SWIFTC=$(SWIFT)c Tests/Fuzz/tls.sh $(FOR)

portable: setup
	WIFI_PORTABLE=1 $(SWIFT) build --product wifictl --scratch-path .build/portable
	@"$$(WIFI_PORTABLE=1 $(SWIFT) build --scratch-path .build/portable --show-bin-path)/wifictl" demo

docs:
	@.ci/setup.sh test
	$(SWIFT) build --product wifictl
	@.ci/docs.sh "$$($(SWIFT) build --show-bin-path)/Modules" .build/documentation

release: setup
	$(SWIFT) build $(RELEASE)

install: release
	@.ci/install.sh "$$($(SWIFT) build $(RELEASE) --show-bin-path)/wifictl" "$(PREFIX)" "$(DESTDIR)"

deb: release
	@.ci/setup.sh deb
	@.ci/deb.sh "$$($(SWIFT) build $(RELEASE) --show-bin-path)/wifictl"

test-deb: deb
	@.ci/setup.sh test-deb
	@.ci/test-deb.sh "$$(ls -t dist/wifictl_*.deb | head -1)"

SANITIZED := TLS|Certif|Handshake|NamedError|Secure|RouterVerif|Verdict|TrustMemory|VerifyTool|Spoofer|Matrix|Secre
# What sanitizers add to each allocation, and where they keep what is freed, isn't the memory that benchmarks and searches are about.
SANITIZE := $(SOME_AT_A_TIME) --filter '$(SANITIZED)' --skip 'BenchTests|SecretMemoryTests'

sanitize: setup
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/address $(SANITIZE)
	TSAN_OPTIONS=suppressions=$(CURDIR)/.ci/thread-sanitizer.txt $(SWIFT) test --sanitize=thread --scratch-path .build/thread $(SANITIZE)

format:
	$(SWIFT) format -i -r $(CODE)

lint:
	$(SWIFT) format lint -s -r $(CODE)

setup:
	@.ci/setup.sh build

clean:
	rm -rf .build
