#!/bin/sh
# Installs missing system packages of Waybill: install-system-packages.sh build servers
# - browser: Chromium and a font, for the tests of the portal's pages
# - build: a C compiler and linker for the Rust toolchain
# - languages: PHP with its curl and a JDK, for the samples that integrators copy
# - node: Node.js 18 or newer with npm, for the portal's pages
# - prometheus: Prometheus with its promtool, as programs, for the tests of alerts and dashboards
# - python: Python with virtual environments, for the tools that test the API
# - servers: PostgreSQL 15 or newer and RabbitMQ 3.10 or newer, as programs only: no system service is started
# Prints nothing when nothing is missing.
set -eu

postgresql_oldest=15
rabbitmq_oldest=3.10
node_oldest=18

usage() {
    echo "usage: $0 [browser] [build] [languages] [node] [prometheus] [python] [servers]" >&2
    exit 2
}

fail() {
    echo "error: $*" >&2
    exit 1
}

# --- Detection -----------------------------------------------------------------------------------------------

# Whether version $1 is at least version $2. Compares major.minor only.
at_least() {
    have_major=${1%%.*} have_rest=${1#*.}
    want_major=${2%%.*} want_rest=${2#*.}
    [ "$have_major" -gt "$want_major" ] && return 0
    [ "$have_major" -eq "$want_major" ] && [ "${have_rest%%.*}" -ge "${want_rest%%.*}" ]
}

has_compiler() {
    command -v cc >/dev/null && { [ -e /usr/include/stdio.h ] || [ ! -e /etc/debian_version ]; }
}

has_postgresql() {
    for programs in /usr/lib/postgresql/*/bin; do
        version=${programs%/bin} version=${version##*/}
        case $version in *[!0-9]*) continue ;; esac
        [ "$version" -ge "$postgresql_oldest" ] || continue
        [ -x "$programs/postgres" ] && [ -x "$programs/initdb" ] && [ -x "$programs/psql" ] &&
            [ -x "$programs/pgbench" ] && return 0
    done
    # Not in Debian's directories; its version is checked at the start.
    command -v postgres >/dev/null && command -v initdb >/dev/null && command -v psql >/dev/null
}

has_rabbitmq() {
    for home in /usr/lib/rabbitmq/lib/rabbitmq_server-*; do
        [ -d "$home" ] || continue
        at_least "${home##*rabbitmq_server-}" "$rabbitmq_oldest" && has_erl_call && return 0
    done
    [ ! -d /usr/lib/rabbitmq/lib ] && command -v rabbitmq-server >/dev/null && has_erl_call
}

has_erl_call() {
    [ -x /usr/lib/erlang/bin/erl_call ] || command -v erl_call >/dev/null
}

has_python() {
    command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null
}

has_node() {
    command -v npm >/dev/null && version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    [ "${version%%.*}" -ge "$node_oldest" ]
}

has_browser() {
    for program in chromium-headless-shell chromium chromium-browser google-chrome; do
        command -v "$program" >/dev/null && return 0
    done
    return 1
}

has_languages() {
    command -v javac >/dev/null && command -v php >/dev/null && php -r 'exit(function_exists("curl_init") ? 0 : 1);'
}

has_prometheus() {
    command -v prometheus >/dev/null && command -v promtool >/dev/null
}

# Sets `missing` to the names of what is missing.
find_missing() {
    missing=
    for group in "$@"; do
        case $group in
        browser) has_browser || missing="$missing browser" ;;
        build) has_compiler || missing="$missing compiler" ;;
        languages) has_languages || missing="$missing languages" ;;
        node) has_node || missing="$missing node" ;;
        prometheus) has_prometheus || missing="$missing prometheus" ;;
        python) has_python || missing="$missing python" ;;
        servers)
            has_postgresql || missing="$missing postgresql"
            has_rabbitmq || missing="$missing rabbitmq"
            ;;
        *) usage ;;
        esac
    done
}

# --- Installing, as root ---------------------------------------------------------------------------------------------

apt() {
    DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
        apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" </dev/null
}

# Chromium without a window system where there is a package for it: it needs a quarter less processor time.
browser_package() {
    if apt-cache show chromium-headless-shell >/dev/null 2>&1; then echo chromium-headless-shell; else echo chromium; fi
}

# The package of the newest PostgreSQL in the system's packages; empty when it is too old.
postgresql_package() {
    apt-cache pkgnames postgresql- | sed -n 's/^postgresql-\([0-9][0-9]*\)$/\1/p' | sort -n | tail -n 1 |
        while read -r version; do
            if [ "$version" -ge "$postgresql_oldest" ]; then echo "postgresql-$version"; fi
        done
}

# A package must not start a system service. Debian prevents that with a policy-rc.d that exits with 101. An existing
# policy-rc.d is moved aside and restored when this script ends.
policy=/usr/sbin/policy-rc.d
policy_aside=/usr/sbin/policy-rc.d.before-waybill

forbid_starting_servers() {
    [ ! -e "$policy_aside" ] || mv -f "$policy_aside" "$policy"
    [ ! -e "$policy" ] || mv "$policy" "$policy_aside"
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
}

clean_up() {
    if [ -e "$policy_aside" ]; then
        mv -f "$policy_aside" "$policy"
    else
        rm -f "$policy"
    fi
    # Erlang programs start the name server epmd. Stop it unless it was running before.
    for pid in $(epmd_pids); do
        case " $epmd_before " in
        *" $pid "*) ;;
        *) kill "$pid" 2>/dev/null || true ;;
        esac
    done
}

epmd_pids() {
    for comm in /proc/[0-9]*/comm; do
        if [ "$(cat "$comm" 2>/dev/null)" = epmd ]; then
            comm=${comm%/comm}
            printf '%s ' "${comm##*/}"
        fi
    done
}

install_as_root() {
    epmd_before=$(epmd_pids)
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    forbid_starting_servers

    echo "Updating the package list"
    apt update
    packages='' services=''
    for word in $missing; do
        case $word in
        browser) packages="$packages $(browser_package) fonts-dejavu-core" ;;
        compiler) packages="$packages gcc libc6-dev" ;;
        languages) packages="$packages php-cli php-curl default-jdk-headless" ;;
        node) packages="$packages nodejs npm" ;;
        prometheus)
            packages="$packages prometheus"
            services="$services prometheus.service"
            ;;
        python) packages="$packages python3 python3-venv" ;;
        postgresql)
            package=$(postgresql_package)
            [ -n "$package" ] || too_old PostgreSQL "$postgresql_oldest"
            packages="$packages $package"
            # Otherwise the package creates a database cluster and starts it at the next boot.
            if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
                mkdir -p /etc/postgresql-common
                echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
            fi
            ;;
        rabbitmq)
            packages="$packages rabbitmq-server"
            services="$services rabbitmq-server.service epmd.service epmd.socket"
            ;;
        esac
    done
    echo "Installing$packages"
    # shellcheck disable=SC2086 # a list of names
    apt install --no-install-recommends $packages
    if [ -n "$services" ] && command -v systemctl >/dev/null; then
        # Do not start them at the next boot either.
        # shellcheck disable=SC2086 # a list of names
        systemctl --quiet disable $services >/dev/null 2>&1 || true
    fi
}

too_old() {
    fail "this system's packages have no $1 $2 or newer. Add a repository that has it (https://apt.postgresql.org for
PostgreSQL, https://www.rabbitmq.com/docs/install-debian for RabbitMQ), or use docker compose in deploy/."
}

# --- The script ------------------------------------------------------------------------------------------------------

find_missing "$@"
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    fail "missing:$missing. This script does not know this system's package manager. Install:
  Chromium, for: browser
  a C compiler (gcc or clang), for: compiler
  PHP with its extension curl, and a JDK 17 or newer, for: languages
  Node.js $node_oldest or newer with npm, for: node
  Prometheus with its promtool, for: prometheus
  Python 3 with its venv and ensurepip modules, for: python
  PostgreSQL $postgresql_oldest or newer, the server and its tools, for: postgresql
  RabbitMQ $rabbitmq_oldest or newer, with Erlang's erl_call, for: rabbitmq
or run Waybill with docker compose in deploy/."
fi

if [ "$(id -u)" -eq 0 ]; then
    install_as_root
elif command -v sudo >/dev/null; then
    echo "Missing:$missing. Installing it from the system's packages, with sudo."
    sudo sh "$0" "$@"
else
    fail "missing:$missing. Root or sudo is needed to install it. Run as root: sh $0 $*"
fi

find_missing "$@"
case $missing in
'') ;;
*rabbitmq*) too_old RabbitMQ "$rabbitmq_oldest" ;;
*node*) fail "this system's packages have no Node.js $node_oldest or newer with npm. Install it from https://nodejs.org." ;;
*) fail "still missing after the installation:$missing" ;;
esac
