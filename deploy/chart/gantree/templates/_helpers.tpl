{{- define "gantree.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains "gantree" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-gantree" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Of the Service, the Secret with the certificate and the configuration alike. */}}
{{- define "gantree.webhookName" -}}
{{ include "gantree.fullname" . }}-webhook
{{- end -}}

{{- define "gantree.selectorLabels" -}}
app.kubernetes.io/name: gantree
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gantree.labels" -}}
{{ include "gantree.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}
