/* SPDX-License-Identifier: GPL-2.0-or-later */
/* members.c - the table behind ec2_overrides(). A test holds it against the models that botocore carries. */
#include "lib/aws/members.h"

#include <string.h>

/* "Name" a plain value, "Name{Structure" an object, "Name[" and "Name[{Structure" lists of them; "Name=Wire" where the wire has
 * another name: EC2 numbers its lists under the singular, but not all of them. */
static const struct {
	const char *structure, *members;
} table[] = {
	{"RunInstances",
	 "BlockDeviceMappings=BlockDeviceMapping[{BlockDeviceMapping ImageId InstanceType Ipv6AddressCount "
	 "Ipv6Addresses=Ipv6Address[{InstanceIpv6Address KernelId KeyName MaxCount MinCount "
	 "Monitoring{RunInstancesMonitoringEnabled Placement{Placement RamdiskId SecurityGroupIds=SecurityGroupId[ "
	 "SecurityGroups=SecurityGroup[ SubnetId UserData ElasticGpuSpecification[{ElasticGpuSpecification "
	 "ElasticInferenceAccelerators=ElasticInferenceAccelerator[{ElasticInferenceAccelerator "
	 "TagSpecifications=TagSpecification[{TagSpecification LaunchTemplate{LaunchTemplateSpecification "
	 "InstanceMarketOptions{InstanceMarketOptionsRequest CreditSpecification{CreditSpecificationRequest "
	 "CpuOptions{CpuOptionsRequest CapacityReservationSpecification{CapacityReservationSpecification "
	 "HibernationOptions{HibernationOptionsRequest "
	 "LicenseSpecifications=LicenseSpecification[{LicenseConfigurationRequest "
	 "MetadataOptions{InstanceMetadataOptionsRequest EnclaveOptions{EnclaveOptionsRequest "
	 "PrivateDnsNameOptions{PrivateDnsNameOptionsRequest MaintenanceOptions{InstanceMaintenanceOptionsRequest "
	 "DisableApiStop EnablePrimaryIpv6 NetworkPerformanceOptions{InstanceNetworkPerformanceOptionsRequest "
	 "Operator{OperatorRequest "
	 "SecondaryInterfaces=SecondaryInterface[{InstanceSecondaryInterfaceSpecificationRequest DryRun "
	 "DisableApiTermination InstanceInitiatedShutdownBehavior PrivateIpAddress ClientToken AdditionalInfo "
	 "NetworkInterfaces=NetworkInterface[{InstanceNetworkInterfaceSpecification "
	 "IamInstanceProfile{IamInstanceProfileSpecification EbsOptimized"},
	{"BlockDeviceMapping", "Ebs{EbsBlockDevice NoDevice DeviceName VirtualName"},
	{"EbsBlockDevice",
	 "DeleteOnTermination Iops SnapshotId VolumeSize VolumeType KmsKeyId Throughput OutpostArn "
	 "AvailabilityZone Encrypted VolumeInitializationRate AvailabilityZoneId EbsCardIndex"},
	{"InstanceIpv6Address", "Ipv6Address IsPrimaryIpv6"},
	{"RunInstancesMonitoringEnabled", "Enabled"},
	{"Placement",
	 "AvailabilityZoneId Affinity GroupName PartitionNumber HostId Tenancy SpreadDomain HostResourceGroupArn "
	 "GroupId AvailabilityZone"},
	{"ElasticGpuSpecification", "Type"},
	{"ElasticInferenceAccelerator", "Type Count"},
	{"TagSpecification", "ResourceType Tags=Tag[{Tag"},
	{"Tag", "Key Value"},
	{"LaunchTemplateSpecification", "LaunchTemplateId LaunchTemplateName Version"},
	{"InstanceMarketOptionsRequest", "MarketType SpotOptions{SpotMarketOptions"},
	{"SpotMarketOptions", "MaxPrice SpotInstanceType BlockDurationMinutes ValidUntil InstanceInterruptionBehavior"},
	{"CreditSpecificationRequest", "CpuCredits"},
	{"CpuOptionsRequest", "CoreCount ThreadsPerCore AmdSevSnp NestedVirtualization"},
	{"CapacityReservationSpecification",
	 "CapacityReservationPreference CapacityReservationTarget{CapacityReservationTarget"},
	{"CapacityReservationTarget", "CapacityReservationId CapacityReservationResourceGroupArn"},
	{"HibernationOptionsRequest", "Configured"},
	{"LicenseConfigurationRequest", "LicenseConfigurationArn"},
	{"InstanceMetadataOptionsRequest",
	 "HttpTokens HttpPutResponseHopLimit HttpEndpoint HttpProtocolIpv6 InstanceMetadataTags"},
	{"EnclaveOptionsRequest", "Enabled"},
	{"PrivateDnsNameOptionsRequest", "HostnameType EnableResourceNameDnsARecord EnableResourceNameDnsAAAARecord"},
	{"InstanceMaintenanceOptionsRequest", "AutoRecovery"},
	{"InstanceNetworkPerformanceOptionsRequest", "BandwidthWeighting"},
	{"OperatorRequest", "Principal"},
	{"InstanceSecondaryInterfaceSpecificationRequest",
	 "DeleteOnTermination DeviceIndex "
	 "PrivateIpAddresses=PrivateIpAddress[{InstanceSecondaryInterfacePrivateIpAddressRequest "
	 "PrivateIpAddressCount SecondarySubnetId InterfaceType NetworkCardIndex"},
	{"InstanceSecondaryInterfacePrivateIpAddressRequest", "PrivateIpAddress"},
	{"InstanceNetworkInterfaceSpecification",
	 "AssociatePublicIpAddress DeleteOnTermination Description DeviceIndex Groups=SecurityGroupId[ "
	 "Ipv6AddressCount Ipv6Addresses[{InstanceIpv6Address NetworkInterfaceId PrivateIpAddress "
	 "PrivateIpAddresses[{PrivateIpAddressSpecification SecondaryPrivateIpAddressCount SubnetId "
	 "AssociateCarrierIpAddress InterfaceType NetworkCardIndex "
	 "Ipv4Prefixes=Ipv4Prefix[{Ipv4PrefixSpecificationRequest Ipv4PrefixCount "
	 "Ipv6Prefixes=Ipv6Prefix[{Ipv6PrefixSpecificationRequest Ipv6PrefixCount PrimaryIpv6 "
	 "EnaSrdSpecification{EnaSrdSpecificationRequest "
	 "ConnectionTrackingSpecification{ConnectionTrackingSpecificationRequest EnaQueueCount"},
	{"PrivateIpAddressSpecification", "Primary PrivateIpAddress"},
	{"Ipv4PrefixSpecificationRequest", "Ipv4Prefix"},
	{"Ipv6PrefixSpecificationRequest", "Ipv6Prefix"},
	{"EnaSrdSpecificationRequest", "EnaSrdEnabled EnaSrdUdpSpecification{EnaSrdUdpSpecificationRequest"},
	{"EnaSrdUdpSpecificationRequest", "EnaSrdUdpEnabled"},
	{"ConnectionTrackingSpecificationRequest", "TcpEstablishedTimeout UdpStreamTimeout UdpTimeout"},
	{"IamInstanceProfileSpecification", "Arn Name"},
	{"CreateFleet",
	 "DryRun ClientToken SpotOptions{SpotOptionsRequest OnDemandOptions{OnDemandOptionsRequest "
	 "ReservedCapacityOptions{ReservedCapacityOptionsRequest ExcessCapacityTerminationPolicy "
	 "LaunchTemplateConfigs[{FleetLaunchTemplateConfigRequest "
	 "TargetCapacitySpecification{TargetCapacitySpecificationRequest TerminateInstancesWithExpiration Type "
	 "ValidFrom ValidUntil ReplaceUnhealthyInstances TagSpecifications=TagSpecification[{TagSpecification "
	 "Context"},
	{"SpotOptionsRequest",
	 "AllocationStrategy MaintenanceStrategies{FleetSpotMaintenanceStrategiesRequest "
	 "InstanceInterruptionBehavior InstancePoolsToUseCount SingleInstanceType SingleAvailabilityZone "
	 "MinTargetCapacity MaxTotalPrice"},
	{"FleetSpotMaintenanceStrategiesRequest", "CapacityRebalance{FleetSpotCapacityRebalanceRequest"},
	{"FleetSpotCapacityRebalanceRequest", "ReplacementStrategy TerminationDelay"},
	{"OnDemandOptionsRequest",
	 "AllocationStrategy CapacityReservationOptions{CapacityReservationOptionsRequest SingleInstanceType "
	 "SingleAvailabilityZone MinTargetCapacity MaxTotalPrice"},
	{"CapacityReservationOptionsRequest", "UsageStrategy"},
	{"ReservedCapacityOptionsRequest", "ReservationTypes=ReservationType["},
	{"FleetLaunchTemplateConfigRequest",
	 "LaunchTemplateSpecification{FleetLaunchTemplateSpecificationRequest "
	 "Overrides[{FleetLaunchTemplateOverridesRequest"},
	{"FleetLaunchTemplateSpecificationRequest", "LaunchTemplateId LaunchTemplateName Version"},
	{"FleetLaunchTemplateOverridesRequest",
	 "InstanceType MaxPrice SubnetId AvailabilityZone WeightedCapacity Priority Placement{Placement "
	 "BlockDeviceMappings=BlockDeviceMapping[{FleetBlockDeviceMappingRequest "
	 "InstanceRequirements{InstanceRequirementsRequest ImageId AvailabilityZoneId"},
	{"FleetBlockDeviceMappingRequest", "DeviceName VirtualName Ebs{FleetEbsBlockDeviceRequest NoDevice"},
	{"FleetEbsBlockDeviceRequest",
	 "Encrypted DeleteOnTermination Iops Throughput KmsKeyId SnapshotId VolumeSize VolumeType"},
	{"InstanceRequirementsRequest",
	 "VCpuCount{VCpuCountRangeRequest MemoryMiB{MemoryMiBRequest CpuManufacturers=CpuManufacturer[ "
	 "MemoryGiBPerVCpu{MemoryGiBPerVCpuRequest ExcludedInstanceTypes=ExcludedInstanceType[ "
	 "InstanceGenerations=InstanceGeneration[ SpotMaxPricePercentageOverLowestPrice "
	 "OnDemandMaxPricePercentageOverLowestPrice BareMetal BurstablePerformance RequireHibernateSupport "
	 "NetworkInterfaceCount{NetworkInterfaceCountRequest LocalStorage LocalStorageTypes=LocalStorageType[ "
	 "TotalLocalStorageGB{TotalLocalStorageGBRequest BaselineEbsBandwidthMbps{BaselineEbsBandwidthMbpsRequest "
	 "AcceleratorTypes=AcceleratorType[ AcceleratorCount{AcceleratorCountRequest "
	 "AcceleratorManufacturers=AcceleratorManufacturer[ AcceleratorNames=AcceleratorName[ "
	 "AcceleratorTotalMemoryMiB{AcceleratorTotalMemoryMiBRequest "
	 "NetworkBandwidthGbps{NetworkBandwidthGbpsRequest AllowedInstanceTypes=AllowedInstanceType[ "
	 "MaxSpotPriceAsPercentageOfOptimalOnDemandPrice "
	 "BaselinePerformanceFactors{BaselinePerformanceFactorsRequest RequireEncryptionInTransit"},
	{"VCpuCountRangeRequest", "Min Max"},
	{"MemoryMiBRequest", "Min Max"},
	{"MemoryGiBPerVCpuRequest", "Min Max"},
	{"NetworkInterfaceCountRequest", "Min Max"},
	{"TotalLocalStorageGBRequest", "Min Max"},
	{"BaselineEbsBandwidthMbpsRequest", "Min Max"},
	{"AcceleratorCountRequest", "Min Max"},
	{"AcceleratorTotalMemoryMiBRequest", "Min Max"},
	{"NetworkBandwidthGbpsRequest", "Min Max"},
	{"BaselinePerformanceFactorsRequest", "Cpu{CpuPerformanceFactorRequest"},
	{"CpuPerformanceFactorRequest", "References=Reference[{PerformanceFactorReferenceRequest"},
	{"PerformanceFactorReferenceRequest", "InstanceFamily"},
	{"TargetCapacitySpecificationRequest",
	 "TotalTargetCapacity OnDemandTargetCapacity SpotTargetCapacity DefaultTargetCapacityType "
	 "TargetCapacityUnitType"},
};

static bool same(const char *text, size_t n, const char *s, size_t n_s)
{
	return n == n_s && !memcmp(text, s, n);
}

static void take_apart(const char *word, size_t n, struct member *out)
{
	size_t names = strcspn(word, "[{ ");
	const char *equals = memchr(word, '=', names), *brace = memchr(word, '{', n);

	out->name = out->wire = word;
	out->n_name = out->n_wire = names;
	if (equals) {
		out->n_name = (size_t)(equals - word);
		out->wire = equals + 1;
		out->n_wire = names - out->n_name - 1;
	}
	out->list = names < n && word[names] == '[';
	out->shape = brace ? brace + 1 : word + n;
	out->n_shape = (size_t)(word + n - out->shape);
}

static bool find_in(const char *members, const char *name, struct member *out)
{
	size_t n;

	for (const char *p = members; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		take_apart(p, n, out);
		if (same(out->name, out->n_name, name, strlen(name)))
			return true;
	}
	return false;
}

bool member_find(const char *structure, size_t n_structure, const char *name, struct member *out)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (same(table[i].structure, strlen(table[i].structure), structure, n_structure))
			return find_in(table[i].members, name, out);
	return false;
}
