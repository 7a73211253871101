{{- /* services.yaml, with what values.yaml says about each service. */ -}}
{{- define "waybill.services" -}}
{{- $services := dict -}}
{{- range $name, $service := $.Files.Get "services.yaml" | fromYaml -}}
{{- $database := $name | replace "-" "_" -}}
{{- $base := ternary $database (printf "%s_service" $database) (dig "isOwner" false $service) -}}
{{- $own := dict "name" $name "database" $database "role" $base
  "owner" (ternary $database (printf "%s_owner" $database) (dig "isOwner" false $service))
  "ownerSecret" (ternary (printf "postgres-%s" $name) (printf "postgres-%s-owner" $name) (dig "isOwner" false $service))
  "user" (index $.Values.postgres.users $name | default $base)
  "listeners" (concat (without $service.listeners "internal") (include "waybill.internalListeners" $ | fromYamlArray)) -}}
{{- $_ := set $services $name (mustMerge $own $service (index $.Values.services $name)) -}}
{{- end -}}
{{- toYaml $services -}}
{{- end -}}

{{- /* The listeners for calls between the services. */ -}}
{{- define "waybill.internalListeners" -}}
{{- if ne .Values.internalTls.mode "required" }}
- internal
{{- end }}
{{- if ne .Values.internalTls.mode "disabled" }}
- internal-tls
{{- end }}
{{- end -}}

{{- /* The Secret with the authorities of the services' certificates. */ -}}
{{- define "waybill.internalCa" -}}
{{- $own := .Values.internalTls -}}
{{- if and (eq $own.by "cert-manager") (not $own.issuerRef.name) -}}
{{- $own.caSecret.name | default "internal-authority" -}}
{{- else -}}
{{- required "internalTls.caSecret.name is required: the Secret with the authorities that the callers trust" $own.caSecret.name -}}
{{- end -}}
{{- end -}}

{{- /* The Secret's name in this installation: (list $ "postgres-wallet"). */ -}}
{{- define "waybill.secret" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{- index $root.Values.secrets $name | default $name -}}
{{- end -}}

{{- define "waybill.secretEnv" -}}
{{- $root := index . 0 -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef:
      name: {{ include "waybill.secret" (list $root (index . 2)) }}
      key: {{ index . 3 }}
{{- end -}}

{{- define "waybill.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: waybill
app.kubernetes.io/component: service
{{- end -}}

{{- /* Of a part that is no service. */ -}}
{{- define "waybill.partLabels" -}}
app.kubernetes.io/part-of: waybill
app.kubernetes.io/component: {{ . }}
{{- end -}}

{{- /* Neither Helm, Argo CD nor Flux removes the servers, whose volumes would go with them. */ -}}
{{- define "waybill.kept" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false,Delete=false
kustomize.toolkit.fluxcd.io/prune: disabled
{{- end -}}

{{- define "waybill.image" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{- $images := $root.Values.images -}}
{{- $digest := index $images.digests $name -}}
{{- printf "%s/%s" $images.registry $name -}}
{{- if $digest }}@{{ $digest }}{{ else }}:{{ $images.tag | default $root.Chart.AppVersion }}{{ end -}}
{{- end -}}

{{- /* A file of the chart that is a link in the repository: some tools drop links, and the manifests would silently lack its content. */ -}}
{{- define "waybill.file" -}}
{{- $root := index . 0 -}}
{{- $root.Files.Get (index . 1) | required (printf "%s is not in the chart: package it with `helm package`, which follows links" (index . 1)) -}}
{{- end -}}

{{- define "waybill.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "waybill.podSecurity" -}}
{{- $user := . -}}
runAsNonRoot: true
runAsUser: {{ $user }}
runAsGroup: {{ $user }}
fsGroup: {{ $user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "waybill.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* The PriorityClass of `servers` or `services`: (list $ "servers"). */ -}}
{{- define "waybill.priorityClass" -}}
{{- $root := index . 0 -}}{{- $kind := index . 1 -}}
{{- $own := ternary (printf "%s-%s" $root.Release.Namespace $kind) "" $root.Values.priorityClasses.create -}}
{{- with index $root.Values.priorityClasses $kind | default $own }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- /* Address, port and authority of each server, as the services reach it. */ -}}
{{- define "waybill.postgres" -}}
{{- $own := .Values.postgres -}}
{{- if eq $own.by "managed" -}}
host: {{ required "postgres.host is required for a managed server" $own.host | quote }}
port: {{ $own.port }}
sslmode: {{ $own.sslmode }}
caSecret: {{ $own.caSecret.name | quote }}
caKey: {{ $own.caSecret.key | quote }}
{{- else if eq $own.by "operator" -}}
host: postgres-rw
port: 5432
sslmode: verify-full
caSecret: postgres-ca
caKey: ca.crt
{{- else -}}
host: postgres
port: 5432
sslmode: disable
caSecret: ""
{{- end -}}
{{- end -}}

{{- define "waybill.rabbitmq" -}}
{{- $own := .Values.rabbitmq -}}
{{- if eq $own.by "managed" -}}
host: {{ required "rabbitmq.host is required for a managed server" $own.host | quote }}
port: {{ $own.port | default (ternary 5671 5672 $own.tls) }}
vhost: {{ $own.vhost | quote }}
tls: {{ $own.tls }}
caSecret: {{ $own.caSecret.name | quote }}
caKey: {{ $own.caSecret.key | quote }}
declare: {{ $own.declare }}
{{- else -}}
host: rabbitmq
port: 5672
vhost: waybill
tls: false
caSecret: ""
declare: false
{{- end -}}
{{- end -}}
