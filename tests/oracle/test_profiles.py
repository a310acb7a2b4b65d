#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random shared files, read by us and by botocore: both must find the same keys, or none. STS is a server here for us, a
stand-in client there; both make the keys of a role out of its name and of the keys that asked."""
import http.server
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import urllib.parse

try:
    import botocore.session
except ImportError:
    print('no botocore: skipped')
    sys.exit(77)

ROUNDS = 400
random.seed(31)
NAMES = ['default', 'p', 'q', 'r', 'with space']


def role_keys(role, base, external):
    name = role.rpartition('/')[2]
    key = '%s(%s%s)' % (name, base, '+' + external if external else '')
    return {'AccessKeyId': key, 'SecretAccessKey': 's-' + key, 'SessionToken': 't-' + name}


class Sts(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        fields = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers['Content-Length'])).decode()))
        base = self.headers['Authorization'].partition('Credential=')[2].split('/')[0]
        keys = role_keys(fields['RoleArn'], base, fields.get('ExternalId'))
        inner = ''.join('<%s>%s</%s>' % (k, v, k) for k, v in keys.items())
        body = ('<AssumeRoleResponse><AssumeRoleResult><Credentials>%s<Expiration>2999-01-01T00:00:00Z</Expiration>'
                '</Credentials></AssumeRoleResult></AssumeRoleResponse>' % inner).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Client:
    """botocore's STS client, as far as it is asked."""
    def __init__(self, access):
        self.access = access

    def assume_role(self, RoleArn, RoleSessionName, ExternalId=None, DurationSeconds=None):
        import datetime
        keys = dict(role_keys(RoleArn, self.access, ExternalId))
        keys['Expiration'] = datetime.datetime(2999, 1, 1, tzinfo=datetime.timezone.utc)
        return {'Credentials': keys}


def spelled(key):
    return random.choice([key, key, key, key.upper(), key.title()])


def line(key, value):
    between = random.choice(['=', ' = ', ' =', ': ', '\t=\t'])
    return '%s%s%s%s' % (spelled(key), between, value, random.choice(['', '', ' ', '\t']))


def keys_of(tag):
    out = [line('aws_access_key_id', 'K' + tag), line('aws_secret_access_key', 'S#%s;x=y' % tag)]
    if random.random() < 0.4:
        out.append(line('aws_session_token', 'T/%s==' % tag))
    if random.random() < 0.1:
        out.pop(1)  # a secret without its key, which botocore passes over, is an error for us
    return out


def process(tag):
    return line('credential_process', """/bin/echo '{"Version": 1, "AccessKeyId": "P%s", "SecretAccessKey": "s"}'""" % tag)


def role(name):
    out = [line('role_arn', 'arn:aws:iam::1:role/R' + name[0])]
    if random.random() < 0.95:
        out.append(line('source_profile', random.choice(NAMES + ['nobody'])))
    if random.random() < 0.3:
        out.append(line('external_id', 'ext'))
    return out


def noise():
    """Two things that say nothing; no key twice, which botocore refuses."""
    nested = ['s3 =', '  aws_access_key_id = X', '  role_arn = Y']
    return random.sample([['# aws_access_key_id=X'], ['; role_arn=X'], [''], nested, [], [line('region', 'us-east-1')],
                          [line('output', 'json')]], 2)


def section(name, config):
    if not config:
        return '[%s]' % name
    if name == 'default':
        return '[default]'
    return '[profile "%s"]' % name if ' ' in name or random.random() < 0.2 else '[profile %s]' % name


def some_file(config):
    text = []
    for name in random.sample(NAMES, random.randint(1, len(NAMES))):
        body = []
        if random.random() < (0.3 if config else 0.6):
            body.append(keys_of(name[0] + ('c' if config else 'f')))
        if random.random() < (0.5 if config else 0.1):
            body.append(role(name))
        if random.random() < 0.15:
            body.append([process(name[0])])
        body += noise()
        random.shuffle(body)
        text.append(section(name, config))
        text += [one for part in body for one in part]
    return '\n'.join(text) + random.choice(['', '\n', '\n\n'])


def theirs(folder, profile):
    os.environ.update(AWS_CONFIG_FILE=folder + '/config', AWS_SHARED_CREDENTIALS_FILE=folder + '/credentials',
                      AWS_EC2_METADATA_DISABLED='true')
    try:
        session = botocore.session.Session(profile=profile)
        session.create_client = lambda service, **kw: Client(kw['aws_access_key_id'])
        found = session.get_credentials()
        frozen = found.get_frozen_credentials() if found else None
    except Exception as error:
        return '! %s' % type(error).__name__
    return '%s %s %s' % (frozen.access_key, frozen.secret_key, frozen.token or '-') if frozen else '! none'


for name in [n for n in os.environ if n.startswith('AWS_')]:
    del os.environ[name]
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Sts)
threading.Thread(target=server.serve_forever, daemon=True).start()
bad = found = 0
with tempfile.TemporaryDirectory() as top:
    wanted = []
    for i in range(ROUNDS):
        folder = '%s/%d' % (top, i)
        os.mkdir(folder)
        for name in ('config', 'credentials'):
            with open('%s/%s' % (folder, name), 'w') as f:
                f.write(some_file(name == 'config'))
        wanted.append({'credentials': folder + '/credentials', 'config': folder + '/config', 'profile': random.choice(NAMES),
                       'sts': 'http://127.0.0.1:%d' % server.server_address[1], 'region': 'us-east-1'})
    with open(top + '/all', 'w') as f:
        json.dump(wanted, f)
    run = subprocess.run(['tests/oracle/aws_probe', 'keys', top + '/all'], stdout=subprocess.PIPE, check=True)
    for case, ours in zip(wanted, run.stdout.decode().splitlines()):
        other = theirs(os.path.dirname(case['config']), case['profile'])
        found += ours[0] != '!'
        if ours != other and not (ours[0] == '!' and other[0] == '!'):
            bad += 1
            print('profile %s: ours "%s", theirs "%s"' % (case['profile'], ours, other))
            if bad < 4:
                for name in ('config', 'credentials'):
                    print('--- %s\n%s' % (name, open(case[name]).read()))
print('%d profiles, %d with keys, %d read differently' % (ROUNDS, found, bad))
sys.exit(1 if bad or found < ROUNDS / 4 else 0)
