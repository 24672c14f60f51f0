package declared

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// groups add the covered groups and versions to a scheme.
var groups = []func(*runtime.Scheme) error{
	admissionregistrationv1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme,
	corev1.AddToScheme, flowcontrolv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	resourcev1.AddToScheme, storagev1.AddToScheme,
}

// declaration has the unions of a Go type.
type declaration struct {
	of reflect.Type
	// unions is the value of x-kubernetes-unions.
	unions string
	// others are the properties that belong to no union. A test fails for a new property until it
	// is in a union or in others.
	others []string
	// value is the default of the discriminator in the API server.
	value string
	// source is the function of the API server that rejects violations, or the API reference.
	source string
	// lax marks unions that the API server does not validate.
	lax bool
}

// declarations has all unions of Kubernetes' types. If the API server sets a default member, the
// union does not require a member.
var declarations = []declaration{
	// admissionregistration.k8s.io
	{
		of:     reflect.TypeFor[admissionregistrationv1.WebhookClientConfig](),
		unions: `[{members: [url, service], cardinality: ExactlyOne}]`,
		others: []string{"caBundle"},
		source: "validateValidatingWebhook",
	},
	{
		of:     reflect.TypeFor[admissionregistrationv1.ParamRef](),
		unions: `[{members: [name, selector], cardinality: ExactlyOne, emptyIsUnset: [name]}]`,
		others: []string{"namespace", "parameterNotFoundAction"},
		source: "validateParamRef",
	},
	{
		of:     reflect.TypeFor[admissionregistrationv1.Mutation](),
		unions: `[{discriminator: patchType, fields-to-discriminateBy: {applyConfiguration: ApplyConfiguration, jsonPatch: JSONPatch}, cardinality: ExactlyOne}]`,
		source: "validateMutation",
	},
	// apps
	{
		of:     reflect.TypeFor[appsv1.DeploymentStrategy](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {rollingUpdate: RollingUpdate}, optionalMembers: [rollingUpdate]}]`,
		value:  "RollingUpdate",
		source: "ValidateDeploymentStrategy",
	},
	{
		of:     reflect.TypeFor[appsv1.StatefulSetUpdateStrategy](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {rollingUpdate: RollingUpdate}, optionalMembers: [rollingUpdate]}]`,
		value:  "RollingUpdate",
		source: "ValidateStatefulSetSpec",
	},
	{
		of:     reflect.TypeFor[appsv1.DaemonSetUpdateStrategy](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {rollingUpdate: RollingUpdate}, optionalMembers: [rollingUpdate]}]`,
		value:  "RollingUpdate",
		source: "the API reference",
		lax:    true,
	},
	// autoscaling
	{
		of: reflect.TypeFor[autoscalingv2.MetricSpec](),
		unions: `[{discriminator: type, cardinality: ExactlyOne, fields-to-discriminateBy:
			{object: Object, pods: Pods, resource: Resource, containerResource: ContainerResource, external: External}}]`,
		source: "validateMetricSpec",
	},
	{
		of: reflect.TypeFor[autoscalingv2.MetricStatus](),
		unions: `[{discriminator: type, cardinality: ExactlyOne, fields-to-discriminateBy:
			{object: Object, pods: Pods, resource: Resource, containerResource: ContainerResource, external: External}}]`,
		source: "the API reference",
		lax:    true,
	},
	// batch
	{
		of:     reflect.TypeFor[batchv1.PodFailurePolicyRule](),
		unions: `[{members: [onExitCodes, onPodConditions], cardinality: ExactlyOne, emptyIsUnset: [onPodConditions]}]`,
		others: []string{"action"},
		source: "validatePodFailurePolicyRule",
	},
	{
		of:     reflect.TypeFor[schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy](),
		unions: `[{members: [basic, gang], cardinality: ExactlyOne}]`,
		source: "Validate_WorkloadPodGroupSchedulingPolicy",
	},
	{
		of:     reflect.TypeFor[schedulingv1alpha3.WorkloadPodGroupDisruptionMode](),
		unions: `[{members: [single, all], cardinality: ExactlyOne}]`,
		source: "Validate_WorkloadPodGroupDisruptionMode",
	},
	// core
	{
		// A volume without a source defaults to an emptyDir.
		of: reflect.TypeFor[corev1.VolumeSource](),
		unions: `[{members: [hostPath, emptyDir, gcePersistentDisk, awsElasticBlockStore, gitRepo, secret, nfs, iscsi, glusterfs,
			persistentVolumeClaim, rbd, flexVolume, cinder, cephfs, flocker, downwardAPI, fc, azureFile, configMap, vsphereVolume,
			quobyte, azureDisk, photonPersistentDisk, projected, portworxVolume, scaleIO, storageos, csi, ephemeral, image]}]`,
		source: "validateVolumeSource",
	},
	{
		of: reflect.TypeFor[corev1.PersistentVolumeSource](),
		unions: `[{cardinality: ExactlyOne, members: [gcePersistentDisk, awsElasticBlockStore, hostPath, glusterfs, nfs, rbd, iscsi, cinder, cephfs,
			fc, flocker, flexVolume, azureFile, vsphereVolume, quobyte, azureDisk, photonPersistentDisk, portworxVolume, scaleIO,
			local, storageos, csi]}]`,
		source: "ValidatePersistentVolumeSpec",
	},
	{
		of:     reflect.TypeFor[corev1.FCVolumeSource](),
		unions: `[{members: [targetWWNs, wwids], cardinality: ExactlyOne, emptyIsUnset: [targetWWNs, wwids]}]`,
		others: []string{"lun", "fsType", "readOnly"},
		source: "validateFCVolumeSource",
	},
	{
		of:     reflect.TypeFor[corev1.FlockerVolumeSource](),
		unions: `[{members: [datasetName, datasetUUID], cardinality: ExactlyOne, emptyIsUnset: [datasetName, datasetUUID]}]`,
		source: "validateFlockerVolumeSource",
	},
	{
		// A source may be empty.
		of:     reflect.TypeFor[corev1.VolumeProjection](),
		unions: `[{members: [secret, downwardAPI, configMap, serviceAccountToken, clusterTrustBundle, podCertificate]}]`,
		source: "validateProjectionSources",
	},
	{
		of:     reflect.TypeFor[corev1.ClusterTrustBundleProjection](),
		unions: `[{members: [name, signerName], cardinality: ExactlyOne}]`,
		others: []string{"labelSelector", "optional", "path", "user"},
		source: "validateProjectionSources",
	},
	{
		of:     reflect.TypeFor[corev1.DownwardAPIVolumeFile](),
		unions: `[{members: [fieldRef, resourceFieldRef], cardinality: ExactlyOne}]`,
		others: []string{"path", "mode", "user"},
		source: "validateDownwardAPIVolumeFile",
	},
	{
		of:     reflect.TypeFor[corev1.VolumeMount](),
		unions: `[{members: [subPath, subPathExpr], emptyIsUnset: [subPath, subPathExpr]}]`,
		others: []string{"name", "readOnly", "recursiveReadOnly", "mountPath", "mountPropagation", "bindMountOptions"},
		source: "ValidateVolumeMounts",
	},
	{
		// value: "" alongside valueFrom is accepted.
		of:     reflect.TypeFor[corev1.EnvVar](),
		unions: `[{members: [value, valueFrom], emptyIsUnset: [value]}]`,
		others: []string{"name"},
		source: "validateEnvVarValueFrom",
	},
	{
		of:     reflect.TypeFor[corev1.EnvVarSource](),
		unions: `[{members: [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef], cardinality: ExactlyOne}]`,
		source: "validateEnvVarValueFrom",
	},
	{
		of:     reflect.TypeFor[corev1.EnvFromSource](),
		unions: `[{members: [configMapRef, secretRef], cardinality: ExactlyOne}]`,
		others: []string{"prefix"},
		source: "ValidateEnvFrom",
	},
	{
		of:     reflect.TypeFor[corev1.ProbeHandler](),
		unions: `[{members: [exec, httpGet, tcpSocket, grpc], cardinality: ExactlyOne}]`,
		source: "validateHandler",
	},
	{
		of:     reflect.TypeFor[corev1.LifecycleHandler](),
		unions: `[{members: [exec, httpGet, tcpSocket, sleep], cardinality: ExactlyOne}]`,
		source: "validateHandler",
	},
	{
		of:     reflect.TypeFor[corev1.SeccompProfile](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {localhostProfile: Localhost}, cardinality: ExactlyOne}]`,
		source: "validateSeccompProfileField",
	},
	{
		of:     reflect.TypeFor[corev1.AppArmorProfile](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {localhostProfile: Localhost}, cardinality: ExactlyOne}]`,
		source: "ValidateAppArmorProfileField",
	},
	{
		of:     reflect.TypeFor[corev1.PodResourceClaim](),
		unions: `[{members: [resourceClaimName, resourceClaimTemplateName], cardinality: ExactlyOne}]`,
		others: []string{"name"},
		source: "validatePodResourceClaim",
	},
	{
		of:     reflect.TypeFor[corev1.PodSchedulingGroup](),
		unions: `[{members: [podGroupName], cardinality: ExactlyOne}]`,
		source: "validateSchedulingGroup",
	},
	{
		of:     reflect.TypeFor[corev1.ContainerState](),
		unions: `[{members: [waiting, running, terminated]}]`,
		source: "the API reference",
		lax:    true,
	},
	{
		of:     reflect.TypeFor[corev1.ServiceSpec](),
		unions: `[{discriminator: sessionAffinity, fields-to-discriminateBy: {sessionAffinityConfig: ClientIP}, optionalMembers: [sessionAffinityConfig]}]`,
		others: []string{
			"ports", "selector", "clusterIP", "clusterIPs", "type", "externalIPs", "loadBalancerIP", "loadBalancerSourceRanges", "externalName",
			"externalTrafficPolicy", "healthCheckNodePort", "publishNotReadyAddresses", "ipFamilies", "ipFamilyPolicy", "allocateLoadBalancerNodePorts",
			"loadBalancerClass", "internalTrafficPolicy", "trafficDistribution",
		},
		value:  "None",
		source: "SetDefaults_Service",
		lax:    true,
	},
	// flowcontrol.apiserver.k8s.io
	{
		of:     reflect.TypeFor[flowcontrolv1.Subject](),
		unions: `[{discriminator: kind, fields-to-discriminateBy: {user: User, group: Group, serviceAccount: ServiceAccount}, cardinality: ExactlyOne}]`,
		source: "ValidateFlowSchemaSubject",
	},
	{
		of: reflect.TypeFor[flowcontrolv1.PriorityLevelConfigurationSpec](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {limited: Limited, exempt: Exempt}, cardinality: ExactlyOne,
			optionalMembers: [exempt]}]`,
		source: "ValidatePriorityLevelConfigurationSpec",
	},
	{
		of:     reflect.TypeFor[flowcontrolv1.LimitResponse](),
		unions: `[{discriminator: type, fields-to-discriminateBy: {queuing: Queue}, cardinality: ExactlyOne}]`,
		source: "ValidateLimitResponse",
	},
	// networking.k8s.io
	{
		of:     reflect.TypeFor[networkingv1.IngressBackend](),
		unions: `[{members: [service, resource], cardinality: ExactlyOne}]`,
		source: "validateIngressBackend",
	},
	{
		of:     reflect.TypeFor[networkingv1.ServiceBackendPort](),
		unions: `[{members: [name, number], cardinality: ExactlyOne, emptyIsUnset: [name]}]`,
		source: "validateIngressBackend",
	},
	{
		of:     reflect.TypeFor[networkingv1.IngressClassParametersReference](),
		unions: `[{discriminator: scope, fields-to-discriminateBy: {namespace: Namespace}}]`,
		others: []string{"apiGroup", "kind", "name"},
		value:  "Cluster",
		source: "validateIngressClassParametersReference",
	},
	// policy
	{
		of:     reflect.TypeFor[policyv1.PodDisruptionBudgetSpec](),
		unions: `[{members: [minAvailable, maxUnavailable]}]`,
		others: []string{"selector", "unhealthyPodEvictionPolicy"},
		source: "ValidatePodDisruptionBudgetSpec",
	},
	// resource.k8s.io
	{
		of:     reflect.TypeFor[resourcev1.DeviceRequest](),
		unions: `[{members: [exactly, firstAvailable], cardinality: ExactlyOne, emptyIsUnset: [firstAvailable]}]`,
		others: []string{"name"},
		source: "validateDeviceRequest",
	},
	{
		of:     reflect.TypeFor[resourcev1.ExactDeviceRequest](),
		unions: `[{discriminator: allocationMode, fields-to-discriminateBy: {count: ExactCount}, optionalMembers: [count]}]`,
		others: []string{"deviceClassName", "selectors", "adminAccess", "tolerations", "capacity", "derivedAttributes"},
		value:  "ExactCount",
		source: "validateDeviceAllocationMode",
	},
	{
		of:     reflect.TypeFor[resourcev1.DeviceSubRequest](),
		unions: `[{discriminator: allocationMode, fields-to-discriminateBy: {count: ExactCount}, optionalMembers: [count]}]`,
		others: []string{"name", "deviceClassName", "selectors", "tolerations", "capacity", "derivedAttributes"},
		value:  "ExactCount",
		source: "validateDeviceAllocationMode",
	},
	{
		of:     reflect.TypeFor[resourcev1.DeviceConstraint](),
		unions: `[{members: [matchAttribute, distinctAttribute], cardinality: ExactlyOne}]`,
		others: []string{"requests"},
		source: "the API reference",
		lax:    true,
	},
	{
		of:     reflect.TypeFor[resourcev1.DeviceAttribute](),
		unions: `[{members: [int, bool, string, version, ints, bools, strings, versions], cardinality: ExactlyOne}]`,
		source: "validateDeviceAttribute",
	},
	{
		of:     reflect.TypeFor[resourcev1.CapacityRequestPolicy](),
		unions: `[{members: [validValues, validRange], emptyIsUnset: [validValues]}]`,
		others: []string{"default"},
		source: "validateRequestPolicy",
	},
	{
		of: reflect.TypeFor[resourcev1.ResourceSliceSpec](),
		unions: `[{members: [nodeName, nodeSelector, allNodes, perDeviceNodeSelection], cardinality: ExactlyOne},
			{members: [devices, sharedCounters]}]`,
		others: []string{"driver", "pool", "partitionTypeAttribute", "skipNodeOperations"},
		source: "validateResourceSliceSpec",
	},
	{
		of:     reflect.TypeFor[resourcev1.Device](),
		unions: `[{members: [nodeName, nodeSelector, allNodes]}]`,
		others: []string{
			"name", "attributes", "capacity", "consumesCounters", "taints", "bindsToNode", "bindingConditions", "bindingFailureConditions",
			"allowMultipleAllocations", "nodeAllocatableResources",
		},
		source: "validateDevice",
	},
	{
		of:     reflect.TypeFor[resourcev1.NodeAllocatableMapping](),
		unions: `[{members: [capacityKey, deviceMultiplier], cardinality: ExactlyOne}]`,
		others: []string{"capacityMultiplier"},
		source: "Validate_NodeAllocatableMapping",
	},
	// storage.k8s.io
	{
		of:     reflect.TypeFor[storagev1.VolumeAttachmentSource](),
		unions: `[{members: [persistentVolumeName, inlineVolumeSpec], cardinality: ExactlyOne}]`,
		source: "validateVolumeAttachmentSource",
	},
}
