#!/bin/sh
# Messages that could not be handled (proto-docs/runbooks/WaybillDeadLetters.md): shows them, or gives them back to their queue.
#
#   deploy/dead-letters.sh <kubernetes|compose|here> <show|move> <queue>
#
# `wallet.refunds` names the queue; its dead letters are in `wallet.refunds.dead-letters`. It runs rabbitmqctl where the broker is, which
# asks for no user: in the cluster, in the container, or on this machine. What is shown may hold what businesses sent. The plugin
# rabbitmq_shovel, which moves them, comes with RabbitMQ and is switched on by the chart. NAMESPACE names another namespace than waybill.
set -eu
usage="usage: $0 <kubernetes|compose|here> <show|move> <queue>"
where=${1:?$usage} what=${2:?$usage} queue=${3:?$usage}
vhost=${VHOST:-waybill}
case $queue in
*[!a-z.-]* | *.dead-letters) echo "error: name the queue itself, as wallet.refunds" >&2; exit 1 ;;
esac

ctl() {
    case $where in
    kubernetes) kubectl --namespace "${NAMESPACE:-waybill}" exec rabbitmq-server-0 --container rabbitmq -- rabbitmqctl --quiet "$@" ;;
    compose) docker compose --project-directory "$(dirname "$0")" exec -T rabbitmq rabbitmqctl --quiet "$@" ;;
    here) rabbitmqctl --quiet "$@" ;;
    *) echo "$usage" >&2; exit 1 ;;
    esac
}

case $what in
show)
    # Twenty at most. They go back as the connection is closed; RabbitMQ counts that as a delivery, and from 4.0 on drops a message after
    # its twentieth, so look seldom.
    ctl eval "
        {ok, Local} = amqp_uri:parse(\"amqp:///$vhost\"),
        {ok, Connection} = amqp_connection:start(Local),
        {ok, Channel} = amqp_connection:open_channel(Connection),
        Get = fun (_) -> amqp_channel:call(Channel, {'basic.get', 0, <<\"$queue.dead-letters\">>, false}) end,
        Found = [Message || {_, {amqp_msg, _, _} = Message} <- lists:map(Get, lists:seq(1, 20))],
        amqp_connection:close(Connection),
        [io:format(\"message_id ~ts~n~ts~n~n\", [element(10, Properties), Payload]) || {_, Properties, Payload} <- Found],
        length(Found)."
    ;;
move)
    ctl list_queues --vhost "$vhost" --no-table-headers name | grep -qx "$queue.dead-letters" ||
        { echo "error: there is no $queue.dead-letters in $vhost" >&2; exit 1; }
    # As many as there are now, each confirmed by its queue before it leaves this one; then the shovel is gone.
    ctl set_parameter --vhost "$vhost" shovel "dead-letters-$queue" "{
        \"src-protocol\": \"amqp091\", \"src-uri\": \"amqp:///$vhost\", \"src-queue\": \"$queue.dead-letters\",
        \"src-delete-after\": \"queue-length\", \"src-prefetch-count\": 10, \"ack-mode\": \"on-confirm\",
        \"dest-protocol\": \"amqp091\", \"dest-uri\": \"amqp:///$vhost\", \"dest-queue\": \"$queue\"}"
    tries=0
    while ctl list_parameters --vhost "$vhost" | grep -q "dead-letters-$queue"; do
        tries=$((tries + 1))
        [ "$tries" -lt 120 ] || { echo "error: the shovel has not come to its end; see: rabbitmqctl shovel_status" >&2; exit 1; }
        sleep 1
    done
    echo "What was in $queue.dead-letters is in $queue. What cannot be handled this time either comes back."
    ;;
*) echo "$usage" >&2; exit 1 ;;
esac
