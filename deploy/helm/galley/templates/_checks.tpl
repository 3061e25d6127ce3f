{{/* What a schema can't express: keys that others make necessary. */}}
{{- define "galley.checks" -}}
{{- if not .Values.temporal.address }}{{ fail "temporal.address: expected host:port of Temporal's frontend" }}{{ end -}}
{{- if not .Values.secrets.operatorToken.name }}{{ fail "secrets.operatorToken.name: expected the name of a Secret with the operator token" }}{{ end -}}
{{- if .Values.platform.enabled -}}
{{- if not .Values.secrets.database.name }}{{ fail "secrets.database.name: expected the name of a Secret with DATABASE_URL, as platform.enabled is true" }}{{ end -}}
{{- if not .Values.platform.objectStoreUrl }}{{ fail "platform.objectStoreUrl: expected s3://bucket?endpoint=…&region=…, as platform.enabled is true" }}{{ end -}}
{{- if not .Values.platform.publicUrl }}{{ fail "platform.publicUrl: expected the URL that links name, as platform.enabled is true" }}{{ end -}}
{{- else if not .Values.adminApi.url -}}
{{- fail "adminApi.url: expected the URL of a hosted Admin API, as platform.enabled is false" -}}
{{- end -}}
{{- if and .Values.agentWorker.enabled (not .Values.platform.enabled) }}{{ fail "agentWorker.enabled: expected platform.enabled too, because it runs the agents of this release's Admin API" }}{{ end -}}
{{- if and .Values.agentWorker.enabled .Values.networkPolicy.enabled (not .Values.agentWorker.egress) }}{{ fail "agentWorker.egress: expected rules for all that it may connect to (Temporal, database, object store, forge), as agentWorker.enabled is true" }}{{ end -}}
{{- end -}}
