{{- define "gantree.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains "gantree" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-gantree" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The user by which the API server knows it. */}}
{{- define "gantree.account" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "gantree.fullname" . }}
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

{{/* The kinds of jobs that may name a queue. `mutated`: when they are changed on their way in. `without`: the label of
those that something makes that waits itself. `made`: further labels of those that something makes that has a queue for
all of them, or none; they are not put into the queue `default` one by one. */}}
{{- define "gantree.jobKinds" -}}
- {plural: jobs, group: batch, version: v1, mutated: [CREATE, UPDATE]}
- {plural: jobsets, group: jobset.x-k8s.io, version: v1alpha2, mutated: [CREATE, UPDATE]}
- {plural: pytorchjobs, group: kubeflow.org, version: v1, mutated: [CREATE, UPDATE]}
- {plural: tfjobs, group: kubeflow.org, version: v1, mutated: [CREATE, UPDATE]}
- {plural: xgboostjobs, group: kubeflow.org, version: v1, mutated: [CREATE, UPDATE]}
- {plural: paddlejobs, group: kubeflow.org, version: v1, mutated: [CREATE, UPDATE]}
- {plural: jaxjobs, group: kubeflow.org, version: v1, mutated: [CREATE, UPDATE]}
- {plural: mpijobs, group: kubeflow.org, version: v2beta1, mutated: [CREATE, UPDATE]}
- {plural: rayclusters, group: ray.io, version: v1, mutated: [CREATE, UPDATE]}
- {plural: rayjobs, group: ray.io, version: v1, mutated: [CREATE, UPDATE]}
- {plural: pods, group: "", version: v1, mutated: [CREATE], without: batch.kubernetes.io/job-name, made: [controller-revision-hash, leaderworkerset.sigs.k8s.io/name, pod-template-hash, ray.io/cluster, training.kubeflow.org/job-name]}
- {plural: deployments, group: apps, version: v1, mutated: [CREATE, UPDATE]}
- {plural: replicasets, group: apps, version: v1, mutated: [CREATE, UPDATE], without: pod-template-hash}
- {plural: statefulsets, group: apps, version: v1, mutated: [CREATE, UPDATE]}
- {plural: leaderworkersets, group: leaderworkerset.x-k8s.io, version: v1, mutated: [CREATE, UPDATE]}
{{- end -}}

{{/* Arguments: the root, validate or mutate, the plural of the kind. */}}
{{- define "gantree.webhookClient" -}}
{{- $root := index . 0 -}}
clientConfig:
  service:
    name: {{ include "gantree.webhookName" $root }}
    namespace: {{ $root.Release.Namespace }}
    path: /{{ index . 1 }}/{{ index . 2 }}
    port: 443
  {{- with $root.Values.webhook.certificate.caBundle }}
  caBundle: {{ . | b64enc }}
  {{- end }}
{{- end -}}

{{/* What is asked about objects of a kind. Arguments: the root, one of the kinds, the operations, whether they carry the
label of a queue (Exists) or not (DoesNotExist), labels that they must not carry. */}}
{{- define "gantree.jobRules" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
rules:
  - apiGroups: [{{ $kind.group | quote }}]
    apiVersions: [{{ $kind.version }}]
    operations: {{ index . 2 | toJson }}
    resources: [{{ $kind.plural }}]
    scope: Namespaced
objectSelector:
  matchExpressions:
    - {key: kueue.x-k8s.io/queue-name, operator: {{ index . 3 }}}
    {{- range index . 4 }}
    - {key: {{ . }}, operator: DoesNotExist}
    {{- end }}
namespaceSelector:
  matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, {{ $root.Release.Namespace }}]}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
{{- end -}}

{{/* About those that carry no label of a queue. A cluster in which nobody answers goes on. Arguments: the root, one of the
kinds. */}}
{{- define "gantree.enqueueWebhook" -}}
{{- $kind := index . 1 -}}
{{ include "gantree.jobRules" (list (index . 0) $kind (list "CREATE") "DoesNotExist" (concat (compact (list $kind.without)) ($kind.made | default list))) }}
failurePolicy: Ignore
timeoutSeconds: 2
{{- end -}}

{{/* About those that carry one. Arguments: the root, one of the kinds, the operations. */}}
{{- define "gantree.jobWebhook" -}}
{{- $root := index . 0 -}}
{{- $kind := index . 1 -}}
{{ include "gantree.jobRules" (list $root $kind (index . 2) "Exists" (compact (list $kind.without))) }}
{{- if has "UPDATE" (index . 2) }}
# What is going must be able to go whether anybody answers or not.{{ if eq $kind.plural "pods" }} Pods change often, and little of it matters: labels, gates, the queue's finalizer.{{ end }}
matchConditions:
  - name: staying
    expression: request.operation == 'CREATE' || !has(object.metadata.deletionTimestamp)
  - name: not-from-gantree
    expression: request.userInfo.username != '{{ include "gantree.account" $root }}'
  {{- if eq $kind.plural "pods" }}
  - name: change-matters
    expression: >-
      request.operation == 'CREATE' ||
      (has(object.metadata.labels) ? object.metadata.labels : {}) !=
      (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}) ||
      (has(object.spec.schedulingGates) ? object.spec.schedulingGates : []) !=
      (has(oldObject.spec.schedulingGates) ? oldObject.spec.schedulingGates : []) ||
      (has(oldObject.metadata.finalizers) && 'kueue.x-k8s.io/managed' in oldObject.metadata.finalizers &&
      !(has(object.metadata.finalizers) && 'kueue.x-k8s.io/managed' in object.metadata.finalizers))
  {{- end }}
{{- end }}
failurePolicy: {{ $root.Values.webhook.jobs.failurePolicy }}
timeoutSeconds: {{ $root.Values.webhook.timeoutSeconds }}
{{- end -}}

{{/* How definitions have their objects converted, as lines of their spec. */}}
{{- define "gantree.conversion" -}}
{{- if .Values.webhook.enabled }}
{{- printf "  conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n      clientConfig:\n" }}
{{- printf "        service: {name: %s, namespace: %s, path: /convert, port: 443}\n" (include "gantree.webhookName" .) .Release.Namespace }}
{{- with .Values.webhook.certificate.caBundle }}
{{- printf "        caBundle: %s\n" (b64enc .) }}
{{- end }}
{{- else }}
{{- printf "  conversion:\n    strategy: None\n" }}
{{- end }}
{{- end -}}

{{/* The kinds that are checked when they are stored, by the path below /validate/. Where Kueue or KAI-Scheduler itself runs it
checks its own. `kept`: those are asked about that are deleted, too. */}}
{{- define "gantree.checkedKinds" -}}
- {plural: podgroups, group: scheduling.sigs.k8s.io, version: v1alpha1, scope: Namespaced}
- {plural: clusternetworktopologies, group: scheduling.koordinator.sh, version: v1alpha1, scope: Cluster}
{{- if .Values.webhook.jobs.enabled }}
{{- range $plural, $scope := dict "topologies" "Cluster" "resourceflavors" "Cluster" "clusterqueues" "Cluster" "cohorts" "Cluster" "localqueues" "Namespaced" "workloads" "Namespaced" "workloadpriorityclasses" "Cluster" }}
- {plural: {{ $plural }}, group: kueue.x-k8s.io, version: v1beta2, scope: {{ $scope }}}
{{- end }}
{{- end }}
{{- if .Values.webhook.kai.enabled }}
- {plural: podgroups, path: kai-podgroups, group: scheduling.run.ai, version: v2alpha2, scope: Namespaced}
- {plural: queues, path: kai-queues, group: scheduling.run.ai, version: v2, scope: Cluster, kept: true}
- {plural: topologies, path: kai-topologies, group: kai.scheduler, version: v1alpha1, scope: Cluster}
{{- end }}
{{- end -}}
