#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random requests, signed by us and by botocore: the signatures must be the same."""
import datetime
import json
import random
import string
import subprocess
import sys
import tempfile
from urllib.parse import quote

try:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
except ImportError:
    print('no botocore: skipped')
    sys.exit(77)

COUNT = 400
random.seed(20150830)


def word(alphabet=string.ascii_letters + string.digits, least=1, most=12):
    return ''.join(random.choice(alphabet) for _ in range(random.randint(least, most)))


def odd_word():
    return word(string.ascii_letters + string.digits + ' /+=&%*~-._:\u00e9\u20ac', 0, 12)


def one():
    pairs = [(quote(odd_word() or 'a', safe='-._~'), quote(odd_word(), safe='-._~')) for _ in range(random.randint(0, 5))]
    path = '/' + '/'.join(quote(odd_word(), safe='-._~') for _ in range(random.randint(0, 3)))
    headers = [['Host', word(string.ascii_lowercase) + random.choice(['', ':8000', '.amazonaws.com'])]]
    headers += [['X-' + word() + str(i), random.choice(['', ' ', '  ']).join(word() for _ in range(3)) + random.choice(['', ' '])]
                for i in range(random.randint(0, 4))]
    when = datetime.datetime(2015, 1, 1) + datetime.timedelta(seconds=random.randint(0, 10 ** 9))
    headers.append(['X-Amz-Date', when.strftime('%Y%m%dT%H%M%SZ')])
    if random.random() < 0.5:
        headers.append(['X-Amz-Security-Token', word(string.ascii_letters + '/+=', 100, 900)])
    random.shuffle(headers)
    return {'method': random.choice(['GET', 'POST', 'PUT']), 'path': path, 'query': '&'.join('='.join(p) for p in pairs),
            'headers': headers, 'body': word(string.printable, 0, 3000), 'key': word(), 'secret': word(string.ascii_letters + '/+', 40, 40),
            'region': random.choice(['us-east-1', 'cn-north-1']), 'service': random.choice(['ec2', 'sts']),
            'ms': int((when - datetime.datetime(1970, 1, 1)).total_seconds()) * 1000, 'date': when.strftime('%Y%m%dT%H%M%SZ')}


def theirs(r):
    host = dict(r['headers'])['Host']
    request = AWSRequest(method=r['method'], url='https://%s%s?%s' % (host, r['path'], r['query']), data=r['body'].encode())
    for name, value in r['headers']:
        request.headers[name] = value
    request.context['timestamp'] = r['date']
    auth = SigV4Auth(Credentials(r['key'], r['secret']), r['service'], r['region'])
    text = auth.string_to_sign(request, auth.canonical_request(request))
    return auth.signature(text, request)


requests = [one() for _ in range(COUNT)]
with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
    json.dump(requests, f)
    f.flush()
    run = subprocess.run(['tests/oracle/aws_probe', 'sign', f.name], stdout=subprocess.PIPE, check=True)
ours = [line.rsplit('Signature=', 1)[1] for line in run.stdout.decode().split('\n') if line]
bad = 0
for request, signature in zip(requests, ours):
    if signature != theirs(request):
        bad += 1
        if bad <= 3:
            print('differs:', json.dumps({k: v for k, v in request.items() if k != 'body'}))
print('%d signatures compared, %d differ' % (len(ours), bad))
sys.exit(1 if bad or len(ours) != COUNT else 0)
