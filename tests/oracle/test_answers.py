#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random answers, made from botocore's model of EC2 and read by us and by botocore: both must see the same."""
import base64
import json
import random
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

try:
    import botocore.loaders
    import botocore.model
    import botocore.parsers
except ImportError:
    print('no botocore: skipped')
    sys.exit(77)

ROUNDS = 25
random.seed(22)
service = botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model('ec2', 'service-2'))
parser = botocore.parsers.EC2QueryParser()

TAGS = ['slurm-ec2:cluster', 'slurm-ec2:launch', 'parallelcluster:queue-name', 'Name', 'x']
WORDS = ['a', 'b c', '<&>', '\u00e9\u20ac', "it's", '', 'i-1', '10.0.0.1']
# Where any random number would never be the interesting one.
NUMBERS = {'deviceIndex': (0, 1), 'networkCardIndex': (0, 1), 'fromPort': (-1, 65535), 'toPort': (-1, 65535),
           'validThreadsPerCore': (1, 2)}


def text_of(shape, name):
    if name == 'key':
        return random.choice(TAGS)
    if name == 'output':
        return base64.b64encode(''.join(random.choice(WORDS) + '\r\n' for _ in range(random.randrange(5))).encode()).decode()
    if name == 'instanceId':
        return 'i-%d' % random.randrange(10 ** 12)
    if name == 'description':
        return random.choice(WORDS + ['[Completed] x', '[Canceled] y', '[completed]'])
    if getattr(shape, 'enum', None):
        return random.choice(shape.enum)
    if shape.type_name in ('integer', 'long'):
        return str(random.randint(*NUMBERS.get(name, (0, 90))))
    if shape.type_name in ('double', 'float'):
        return '%.2f' % random.random()
    if shape.type_name == 'boolean':
        return random.choice(['true', 'false'])
    if shape.type_name == 'timestamp':
        return '20%02d-0%d-1%dT0%d:00:0%d.000Z' % tuple(random.randint(1, 9) for _ in range(5))
    return random.choice(WORDS)


def xml_of(shape, name, depth=0, parents=()):
    if shape.type_name == 'structure':
        inner = ''
        members = list(shape.members.items())
        random.shuffle(members)
        for member, sub in members:
            place = sub.serialization.get('name', member)
            if shape.name in parents or place == 'nextToken' or random.random() < 0.15:
                continue
            inner += '<%s>%s</%s>' % (place, xml_of(sub, place, depth + 1, parents + (shape.name,)), place)
        return inner
    if shape.type_name == 'list':
        count = random.choice([0, 1, 1, 2]) if depth > 1 else random.choice([0, 1, 3])
        item = shape.member.serialization.get('name', 'item')
        return ''.join('<%s>%s</%s>' % (item, xml_of(shape.member, name, depth + 1, parents), item) for _ in range(count))
    return escape(text_of(shape, name))


def tag(item, key):
    """The last of that name, "" as nothing: as our reader has it."""
    for t in reversed(item.get('Tags', [])):
        if t.get('Key') == key and 'Value' in t:
            if t['Value']:
                return t['Value']
    return None


def millis(t):
    return int(t.timestamp() * 1000) if t else 0


def instance(i):
    nics = [n for n in i.get('NetworkInterfaces', []) if n.get('Attachment', {}).get('DeviceIndex', 0) == 0
            and n.get('Attachment', {}).get('NetworkCardIndex', 0) == 0]
    nic = nics[0] if nics else {}
    groups = i.get('SecurityGroups', []) + [g for n in i.get('NetworkInterfaces', []) for g in n.get('Groups', [])]
    ids = [g['GroupId'] for g in groups if 'GroupId' in g]
    return {'id': i.get('InstanceId'), 'type': i.get('InstanceType'), 'state': i.get('State', {}).get('Name'),
            'ip': nic.get('PrivateIpAddress') or i.get('PrivateIpAddress'),
            'dns': nic.get('PrivateDnsName') or i.get('PrivateDnsName'), 'subnet': nic.get('SubnetId') or i.get('SubnetId'),
            'zone': i.get('Placement', {}).get('AvailabilityZone'), 'lifecycle': i.get('InstanceLifecycle'),
            'token': i.get('ClientToken'), 'cluster': tag(i, TAGS[0]), 'launch': tag(i, TAGS[1]), 'queue': tag(i, TAGS[2]),
            'reason': i.get('StateReason', {}).get('Code'), 'launched': millis(i.get('LaunchTime')),
            'index': i.get('AmiLaunchIndex', 0), 'groups': sorted(set(ids))}


def statuses(r):
    """Those that are not well, the last of a name; the first event that is not over, one without a time last."""
    out = {}
    for s in r.get('InstanceStatuses', []):
        checks = [s.get(k, {}) for k in ('InstanceStatus', 'SystemStatus')]
        impaired = [int(c.get('Status') == 'impaired') for c in checks]
        since = [millis(d['ImpairedSince']) for c in checks for d in c.get('Details', []) if 'ImpairedSince' in d]
        events = [e for e in s.get('Events', []) if e.get('Code') and
                  not e.get('Description', '').startswith(('[Completed]', '[Canceled]'))]
        first = min(events, key=lambda e: millis(e.get('NotBefore')) or 1 << 60) if events else {}
        if s.get('InstanceId') and (first or any(impaired)):
            out.pop(s['InstanceId'], None)
            out[s['InstanceId']] = {
                'id': s['InstanceId'], 'instance': impaired[0], 'system': impaired[1], 'since': min(since, default=0),
                'event': first.get('Code'), 'text': first.get('Description'), 'at': millis(first.get('NotBefore'))}
    return sorted(out.values(), key=lambda s: s['id'].encode())


def itype(t):
    cpu, net = t.get('VCpuInfo', {}), t.get('NetworkInfo', {})
    arches = t.get('ProcessorInfo', {}).get('SupportedArchitectures', [])
    out = {'name': t.get('InstanceType'), 'arch': ([a for a in arches if a != 'i386'] or arches or [None])[0],
           'vcpus': cpu.get('DefaultVCpus', 0), 'cores': cpu.get('DefaultCores', 0), 'threads': cpu.get('DefaultThreadsPerCore', 0),
           'one_thread': int(1 in cpu.get('ValidThreadsPerCore', [])), 'memory': t.get('MemoryInfo', {}).get('SizeInMiB', 0),
           'efa': int(net.get('EfaSupported', False)), 'max_efa': net.get('EfaInfo', {}).get('MaximumEfaInterfaces', 0),
           'ebs': int(t.get('EbsInfo', {}).get('EbsOptimizedSupport') in ('supported', 'default')),
           'placement': int('cluster' in t.get('PlacementGroupInfo', {}).get('SupportedStrategies', []))}
    for k, card in enumerate(net.get('NetworkCards', [])):
        out['card%d' % k] = card.get('NetworkCardIndex', 0) * 100 + card.get('MaximumNetworkInterfaces', 0)
    for k, gpu in enumerate(t.get('GpuInfo', {}).get('Gpus', [])):
        out['gpu%d' % k], out['gpu%dn' % k] = gpu.get('Name'), gpu.get('Count', 0)
    return out


def image(m):
    return {'id': m.get('ImageId'), 'name': m.get('Name'), 'arch': m.get('Architecture'), 'state': m.get('State'),
            'root': m.get('RootDeviceName'), 'created': m.get('CreationDate')}


def subnet(s):
    return {'id': s.get('SubnetId'), 'vpc': s.get('VpcId'), 'zone': s.get('AvailabilityZone'), 'cidr': s.get('CidrBlock'),
            'public': int(s.get('MapPublicIpOnLaunch', False)), 'free': s.get('AvailableIpAddressCount', 0)}


def rules(permissions):
    """Groups and address ranges each in their order; the two kinds of range may be mixed, so they are sorted."""
    out = []
    for p in permissions:
        names = [g['GroupId'] for g in p.get('UserIdGroupPairs', []) if 'GroupId' in g]
        names += [r['CidrIp'] for r in p.get('IpRanges', []) if 'CidrIp' in r]
        names += [r['CidrIpv6'] for r in p.get('Ipv6Ranges', []) if 'CidrIpv6' in r]
        out.append((p.get('IpProtocol', ''), p.get('FromPort', -1), p.get('ToPort', -1), len(names)))
    return out


def group(g):
    return {'id': g.get('GroupId'), 'name': g.get('GroupName'), 'vpc': g.get('VpcId'), 'in': rules(g.get('IpPermissions', [])),
            'out': rules(g.get('IpPermissionsEgress', []))}


def template(t):
    return {'id': t.get('LaunchTemplateId'), 'name': t.get('LaunchTemplateName'), 'cluster': tag(t, TAGS[0]),
            'version': t.get('VersionNumber', t.get('LatestVersionNumber', 0))}


def placement(g):
    return {'id': g.get('GroupId'), 'name': g.get('GroupName'), 'state': g.get('State'), 'cluster': tag(g, TAGS[0])}


def fleet(r):
    """A row for each instance, then one for each error."""
    out = []
    for group in r.get('Instances', []):
        choice = group.get('LaunchTemplateAndOverrides', {}).get('Overrides', {})
        lifecycle = group.get('Lifecycle')
        for name in filter(None, group.get('InstanceIds', [])):
            out.append({'id': name, 'type': group.get('InstanceType') or choice.get('InstanceType'), 'state': 'pending',
                        'lifecycle': None if lifecycle == 'on-demand' else lifecycle, 'subnet': choice.get('SubnetId'),
                        'zone': choice.get('AvailabilityZone'), 'launched': 0, 'index': 0, 'groups': []})
    for x in r.get('Errors', []):
        choice = x.get('LaunchTemplateAndOverrides', {}).get('Overrides', {})
        out.append({'code': x.get('ErrorCode'), 'message': x.get('ErrorMessage'), 'type': choice.get('InstanceType'),
                    'subnet': choice.get('SubnetId'), 'zone': choice.get('AvailabilityZone')})
    return out


def reservation(r):
    return {'id': r.get('CapacityReservationId'), 'type': r.get('InstanceType'), 'zone': r.get('AvailabilityZone'),
            'state': r.get('State'), 'kind': r.get('ReservationType'), 'cluster': tag(r, TAGS[0]),
            'placement': r.get('PlacementGroupArn'), 'total': r.get('TotalInstanceCount', 0),
            'available': r.get('AvailableInstanceCount', 0), 'start': millis(r.get('StartDate')), 'end': millis(r.get('EndDate'))}


KINDS = {
    'RunInstances': lambda r: [instance(i) for i in r.get('Instances', [])],
    'CreateFleet': fleet,
    'DescribeCapacityReservations': lambda r: [reservation(v) for v in r.get('CapacityReservations', [])],
    'DescribeInstances': lambda r: [instance(i) for v in r.get('Reservations', []) for i in v.get('Instances', [])],
    'DescribeInstanceStatus': statuses,
    'GetConsoleOutput': lambda r: [{'text': base64.b64decode(r.get('Output', '')).decode('utf-8', 'surrogateescape')}],
    'DescribeInstanceTypes': lambda r: [itype(t) for t in r.get('InstanceTypes', [])],
    'DescribeImages': lambda r: [image(m) for m in r.get('Images', [])],
    'DescribeSubnets': lambda r: [subnet(s) for s in r.get('Subnets', [])],
    'DescribeSecurityGroups': lambda r: [group(g) for g in r.get('SecurityGroups', [])],
    'CreateLaunchTemplate': lambda r: [template(r['LaunchTemplate'])] if 'LaunchTemplate' in r else [],
    'CreateLaunchTemplateVersion': lambda r: [template(r['LaunchTemplateVersion'])] if 'LaunchTemplateVersion' in r else [],
    'DescribeLaunchTemplates': lambda r: [template(t) for t in r.get('LaunchTemplates', [])],
    'DescribePlacementGroups': lambda r: [placement(g) for g in r.get('PlacementGroups', [])],
}


def tidy(items):
    """The same form for both sides: no empty texts, groups as a set, our rule text as its parts."""
    for item in items:
        for key in [k for k, v in item.items() if v in (None, '')]:
            del item[key]
        if 'groups' in item:
            item['groups'] = sorted({g for g in item['groups'] if g})
    return items


def our_rules(text, theirs):
    """"proto/from/to names;" cannot be split safely when names hold blanks, so only the fixed part and the number of rules count."""
    return text.count(';') == len(theirs) if not any(';' in w for w in WORDS) else True


def compare(action, theirs, ours):
    if action != 'DescribeSecurityGroups':
        return theirs == ours
    if len(theirs) != len(ours):
        return False
    for a, b in zip(theirs, ours):
        for side in ('in', 'out'):
            if not our_rules(b.pop(side, ''), a.pop(side, [])):
                return False
    return theirs == ours


def one(action):
    operation = service.operation_model(action)
    xml = '<%sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>%s</%sResponse>' % (
        action, xml_of(operation.output_shape, action), action)
    theirs = tidy(KINDS[action](parser.parse({'status_code': 200, 'headers': {}, 'body': xml.encode()}, operation.output_shape)))
    with tempfile.NamedTemporaryFile('wb', suffix='.xml') as f:
        f.write(xml.encode())
        f.flush()
        run = subprocess.run(['tests/oracle/aws_probe', 'parse', action, f.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode:
        print('%s: %s\n%s' % (action, run.stdout.decode(), xml[:2000]))
        return False, 0
    ours = tidy(json.loads(run.stdout.decode()))
    if compare(action, theirs, ours):
        return True, len(ours)
    print('%s:\n theirs %s\n ours   %s' % (action, json.dumps(theirs, sort_keys=True)[:1500], json.dumps(ours, sort_keys=True)[:1500]))
    return False, len(ours)


bad = items = 0
for name in KINDS:
    for _ in range(ROUNDS):
        same, count = one(name)
        items += count
        bad += not same
        if bad > 3:
            break
print('%d answers, %d items, %d differ' % (len(KINDS) * ROUNDS, items, bad))
sys.exit(1 if bad or items < 100 else 0)
