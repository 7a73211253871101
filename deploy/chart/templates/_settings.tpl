{{- /* The settings of a service, without secrets, as variables of a container: (list $ service further). values.yaml may add to them and
replace them. They are in the pod and not in a ConfigMap, so that a pod of the former release that starts again has its own. */ -}}
{{- define "waybill.settings" -}}
{{- $root := index . 0 -}}{{- $service := index . 1 -}}
{{- $values := $root.Values -}}
{{- $postgres := include "waybill.postgres" $root | fromYaml -}}
{{- $rabbitmq := include "waybill.rabbitmq" $root | fromYaml -}}
{{- $settings := dict
  "WAYBILL_ENVIRONMENT" $values.environment
  "WAYBILL_TELEMETRY__FORMAT" "json"
  "WAYBILL_HTTP__INTERNAL" (ternary "127.0.0.1:8081" "0.0.0.0:8081" (eq $values.internalTls.mode "required"))
  "WAYBILL_HTTP__MANAGEMENT" "0.0.0.0:8082"
  "WAYBILL_DATABASE__HOST" $postgres.host
  "WAYBILL_DATABASE__PORT" $postgres.port
  "WAYBILL_DATABASE__SSLMODE" $postgres.sslmode
  "WAYBILL_DATABASE__DBNAME" $service.database
  "WAYBILL_DATABASE__USER" $service.user
  "WAYBILL_BROKER__HOST" $rabbitmq.host
  "WAYBILL_BROKER__PORT" $rabbitmq.port
  "WAYBILL_BROKER__TLS" $rabbitmq.tls
  "WAYBILL_BROKER__VHOST" $rabbitmq.vhost
  "WAYBILL_BROKER__USER" $service.name
  "WAYBILL_BROKER__DECLARE" $rabbitmq.declare -}}
{{- if $postgres.caSecret }}{{ $_ := set $settings "WAYBILL_DATABASE__SSLROOTCERT" "/etc/waybill/postgres/ca.crt" }}{{ end -}}
{{- if $rabbitmq.caSecret }}{{ $_ := set $settings "WAYBILL_BROKER__CA_FILE" "/etc/waybill/rabbitmq/ca.crt" }}{{ end -}}
{{- $peer := ternary "https://%s:8443" "http://%s:8081" (has $values.internalTls.mode (list "used" "required")) -}}
{{- range $service.calls }}
{{- $_ := set $settings (printf "WAYBILL_PEERS__%s" (. | upper | replace "-" "_")) (printf $peer .) -}}
{{- end -}}
{{- if ne $values.internalTls.mode "disabled" -}}
{{- $_ := set $settings "WAYBILL_HTTP__INTERNAL_TLS" "0.0.0.0:8443" -}}
{{- $_ := set $settings "WAYBILL_HTTP__INTERNAL_CERTIFICATE" "/etc/waybill/internal-tls" -}}
{{- if $service.calls }}{{ $_ := set $settings "WAYBILL_PEERS__CA_FILE" "/etc/waybill/internal-ca/ca.crt" }}{{ end -}}
{{- end -}}
{{- $at := printf "%s://%%s" $values.hosts.scheme -}}
{{- if has "public" $service.listeners }}{{ $_ := set $settings "WAYBILL_HTTP__PUBLIC" "0.0.0.0:8080" }}{{ end -}}
{{- if eq $service.name "order-api" -}}
{{- $_ := set $settings "WAYBILL_PUBLIC__URL" (printf $at $values.hosts.api) -}}
{{- $_ := set $settings "WAYBILL_PUBLIC__PORTAL_URL" (printf $at $values.hosts.portal) -}}
{{- else if eq $service.name "portal-api" -}}
{{- $_ := set $settings "WAYBILL_PUBLIC__URL" (printf $at $values.hosts.portal) -}}
{{- $_ := set $settings "WAYBILL_PUBLIC__API_URL" (printf "%s/v1" (printf $at $values.hosts.api)) -}}
{{- $_ := set $settings "WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE" "5000000" -}}
{{- if $values.hosts.console -}}
{{- $_ := set $settings "WAYBILL_HTTP__OPERATOR" "0.0.0.0:8083" -}}
{{- $_ := set $settings "WAYBILL_PUBLIC__CONSOLE_URL" (printf $at $values.hosts.console) -}}
{{- end -}}
{{- end -}}
{{- $brand := ternary $values.brand (dict) (dig "branded" false $service) -}}
{{- range $key, $value := mustMergeOverwrite $settings $brand $values.settings $service.settings (index . 2) }}
- {name: {{ $key }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end -}}
