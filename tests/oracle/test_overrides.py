#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's own members of RunInstances and CreateFleet: what botocore's serialiser makes of them and what we make must be the same.

Each member of the model is given once by itself, then many random requests; a planted unknown member must be refused by name.
"""
import json
import random
import subprocess
import sys
import tempfile

try:
    import botocore.loaders
    import botocore.model
    import botocore.serialize
except ImportError:
    print('no botocore: skipped')
    sys.exit(77)

ROUNDS = 40
OURS = {'RunInstances': {'ClientToken', 'DryRun', 'MinCount', 'MaxCount', 'LaunchTemplate', 'UserData'},
        'CreateFleet': {'ClientToken', 'DryRun', 'Type', 'LaunchTemplateSpecification', 'TotalTargetCapacity'}}
random.seed(23)
service = botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model('ec2', 'service-2'))
serializer = botocore.serialize.EC2Serializer()


def value(shape, action, whole):
    if shape.type_name == 'structure':
        return {name: value(sub, action, whole) for name, sub in shape.members.items()
                if name not in OURS[action] and (whole or random.random() < 0.5)}
    if shape.type_name == 'list':
        return [value(shape.member, action, whole) for _ in range(2 if whole else random.randint(1, 3))]
    if shape.type_name in ('integer', 'long'):
        return random.randint(0, 99)
    if shape.type_name in ('double', 'float'):
        return random.choice([0.5, 2.25])
    if shape.type_name == 'boolean':
        return random.choice([True, False])
    if shape.type_name == 'timestamp':
        return '2026-01-02T03:04:05Z'
    return random.choice(['a', 'b c', '<&=>', '\u00e9', getattr(shape, 'enum', None) and shape.enum[0] or 'x'])


def ours(action, members):
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump(members, f)
        f.flush()
        run = subprocess.run(['tests/oracle/aws_probe', 'overrides', action, f.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(run.stdout.decode()) if run.returncode == 0 else run.stderr.decode()


def theirs(operation, members):
    body = serializer.serialize_to_request(members, operation)['body']
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in body.items() if k not in ('Action', 'Version')}


def compare(action, members):
    want, got = theirs(service.operation_model(action), members), ours(action, members)
    if want == got:
        return 0
    if isinstance(got, dict):
        got = {k: got.get(k) for k in set(want) | set(got) if want.get(k) != got.get(k)}
    print('%s %s: %s' % (action, json.dumps(members)[:600], str(got)[:600]))
    return 1


def objects(o, found):
    """Every object inside, to plant in."""
    if isinstance(o, dict):
        found.append(o)
    for child in o.values() if isinstance(o, dict) else o if isinstance(o, list) else []:
        objects(child, found)
    return found


bad = planted = 0
for action in OURS:
    shape = service.operation_model(action).input_shape
    for name, sub in shape.members.items():
        if name not in OURS[action]:
            bad += compare(action, {name: value(sub, action, True)})
    for _ in range(ROUNDS):
        members = value(shape, action, False)
        bad += compare(action, members)
        random.choice(objects(members, []))['Planted'] = 1
        planted += 1
        answer = ours(action, members)
        if not isinstance(answer, str) or 'Planted: EC2 knows no such member' not in answer:
            print('%s: not found in %s: %s' % (action, json.dumps(members)[:600], answer))
            bad += 1
print('%d planted, %d wrong' % (planted, bad))
sys.exit(1 if bad else 0)
