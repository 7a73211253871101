#!/bin/sh
# What compose.yaml relies on of the official image, for Debian's RabbitMQ.
set -eu
if [ "$(id -u)" = 0 ]; then
  [ -e "$HOME/.erlang.cookie" ] || { umask 077 && openssl rand -hex 16 >"$HOME/.erlang.cookie"; }
  chown -R rabbitmq: "$HOME" /var/log/rabbitmq
  exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "$0"
fi
exec rabbitmq-server
