#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check request bodies of EC2 and STS against the API models that botocore carries: names, types, required members, list
numbering, enums.

  check_request.py FILE...     one form body a line; empty lines and lines that begin with # are skipped

Prints a line for each problem. Exit status: 0 no problem, 1 problems, 2 usage, 77 no botocore here.
"""
import base64
import binascii
import functools
import glob
import gzip
import json
import os
import re
import sys
from urllib.parse import parse_qsl

# Words that EC2 learned after the model of older distributions was written.
NEWER = {'capacity-block'}
NUMBER = {'integer': 32, 'long': 64}
# Words that EC2 took on after the model of Debian 12's botocore.
LATER = {'MarketType': ('capacity-block',), 'DefaultTargetCapacityType': ('capacity-block',)}


def load_model(service='ec2'):
    """The newest model of a service in the botocore of this Python, or None."""
    try:
        import botocore
    except ImportError:
        return None
    folder = os.path.join(os.path.dirname(botocore.__file__), 'data', service)
    for path in sorted(glob.glob(os.path.join(folder, '*', 'service-2.json*')), reverse=True):
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8') as f:
            return json.load(f)
    return None


@functools.lru_cache
def load_sts():
    return load_model('sts')


def wire_name(name, member):
    """What a member is called in a request of the ec2 protocol."""
    if 'queryName' in member:
        return member['queryName']
    place = member.get('locationName', name)
    return place[:1].upper() + place[1:] if 'locationName' in member else name


class Request:
    """One body, held against the model. The problems are collected in self.problems."""

    def __init__(self, model, body):
        self.shapes, self.problems = model['shapes'], []
        fields = parse_qsl(body, keep_blank_values=True)
        named = dict(fields)
        for name in sorted({k for k, _ in fields if [x for x, _ in fields].count(k) > 1}):
            self.say(name, 'given more than once')
        self.action = named.pop('Action', '(no Action)')
        if named.pop('Version', None) != model['metadata']['apiVersion']:
            self.say('Version', 'must be ' + model['metadata']['apiVersion'])
        operation = model['operations'].get(self.action)
        if operation is None:
            self.say('Action', 'there is no %s' % self.action)
        else:
            self.value(operation['input']['shape'], self.tree(named), '')

    def say(self, path, text):
        self.problems.append('%s: %s' % (path, text))

    @staticmethod
    def tree(named):
        """{'A.1.B': 'x'} -> {'A': {'1': {'B': {'': 'x'}}}}; the empty key holds a value."""
        top = {}
        for path, text in named.items():
            at = top
            for step in path.split('.'):
                at = at.setdefault(step, {})
            at[''] = text
        return top

    def value(self, shape_name, at, path):
        shape = self.shapes[shape_name]
        kind = shape['type']
        if kind in ('structure', 'list'):
            if '' in at:
                self.say(path, 'is a %s and takes no value of its own' % kind)
            getattr(self, kind)(shape, {k: v for k, v in at.items() if k != ''}, path)
            return
        if set(at) != {''}:
            self.say(path, 'is a %s and has no members' % kind)
        else:
            self.scalar(shape, at[''], path)

    def structure(self, shape, at, path):
        known = {wire_name(n, m): m['shape'] for n, m in shape['members'].items()}
        required = {wire_name(n, shape['members'][n]) for n in shape.get('required', ())}
        for name in sorted(required - set(at)):
            self.say((path + '.' + name).lstrip('.'), 'is required')
        for name, sub in at.items():
            full = (path + '.' + name).lstrip('.')
            if name in known:
                self.value(known[name], sub, full)
            else:
                alike = [k for k in known if k.lower().rstrip('s') == name.lower().rstrip('s')]
                self.say(full, 'no such member' + (', is it %s?' % alike[0] if alike else ''))

    def list(self, shape, at, path):
        if sorted(at, key=lambda k: (len(k), k)) != [str(i + 1) for i in range(len(at))]:
            self.say(path, 'items must be numbered 1, 2, 3 ... without a gap, not %s' % ', '.join(sorted(at)[:5]))
        if not shape.get('min', 0) <= len(at) <= shape.get('max', len(at)):
            self.say(path, 'has %d items, of %s..%s' % (len(at), shape.get('min', 0), shape.get('max', '')))
        for index, sub in at.items():
            self.value(shape['member']['shape'], sub, path + '.' + index)

    def scalar(self, shape, text, path):
        kind = shape['type']
        if kind in NUMBER:
            limit = 2 ** (NUMBER[kind] - 1)
            if not re.fullmatch(r'0|-?[1-9][0-9]*', text) or not -limit <= int(text) < limit:
                self.say(path, '%r is not a %d-bit whole number' % (text, NUMBER[kind]))
            elif not shape.get('min', -limit) <= int(text) <= shape.get('max', limit):
                self.say(path, '%s is not in %s..%s' % (text, shape.get('min', ''), shape.get('max', '')))
        elif kind in ('float', 'double'):
            if not re.fullmatch(r'-?[0-9]+(\.[0-9]+)?', text):
                self.say(path, '%r is not a number' % text)
        elif kind == 'boolean':
            if text not in ('true', 'false'):
                self.say(path, '%r is neither true nor false' % text)
        elif kind == 'timestamp':
            if not re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', text):
                self.say(path, '%r is not a time' % text)
        else:
            self.string(shape, text, path)

    def string(self, shape, text, path):
        # The model calls user data a string; its documentation wants base64 of at most 16 KiB.
        if path.split('.')[-1] == 'UserData' or shape['type'] == 'blob':
            try:
                if len(base64.b64decode(text, validate=True)) > 16384:
                    self.say(path, 'is longer than 16 KiB')
            except (binascii.Error, ValueError):
                self.say(path, 'is not base64')
        if 'enum' in shape and text not in shape['enum'] and text not in LATER.get(path.split('.')[-1], ()):
            # New instance types come weekly, and a test may need one nobody sells.
            if not path.endswith('InstanceType') and not re.match(r'InstanceType\.\d+$', path) and text not in NEWER:
                self.say(path, '%r is none of %s' % (text, ', '.join(shape['enum'][:8])))
        if not shape.get('min', 0) <= len(text) <= shape.get('max', len(text)):
            self.say(path, 'has %d characters, of %s..%s' % (len(text), shape.get('min', 0), shape.get('max', '')))
        if 'pattern' in shape and not re.search(shape['pattern'], text):
            self.say(path, '%r does not match %s' % (text, shape['pattern']))


def check(model, body):
    """The problems of one body, each with its action. STS has a version of its own."""
    sts = load_sts()
    if '&Version=%s&' % sts['metadata']['apiVersion'] in body:
        model = sts
    request = Request(model, body)
    return ['%s: %s' % (request.action, p) for p in request.problems]


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    model = load_model()
    if model is None:
        print('no botocore: skipped')
        return 77
    bad = total = 0
    for path in paths:
        with open(path, encoding='utf-8') as f:
            for number, line in enumerate(f, 1):
                if not line.strip() or line.startswith('#'):
                    continue
                total += 1
                for problem in check(model, line.strip()):
                    bad += 1
                    print('%s:%d: %s' % (path, number, problem))
    print('%d requests, %d problems' % (total, bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
