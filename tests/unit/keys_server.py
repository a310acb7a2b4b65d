#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""STS, metadata service, container credentials, Service Quotas and a word of EC2 on loopback, for test_credentials_chain.

The secret of access key K is "SECRET-K", so every signature is checked, by botocore where it is installed. A role is treated by
the last part of its ARN. Prints its port; ends when its standard input is closed. GET /log/NAME tells how often NAME was asked;
GET /set/NAME/VALUE changes a variable.
With the path of a certificate and its key as argument, a second port speaks TLS.
"""
import email.utils
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

try:
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials
except ImportError:
    botocore = None

LOCK = threading.Lock()
JSON = 'application/x-amz-json-1.1'
COUNT = {}
VARS = {'imds_left_s': '21600', 'expired': '', 'imds': 'on'}


def count(name):
    with LOCK:
        COUNT[name] = COUNT.get(name, 0) + 1
        return COUNT[name]


def until(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + seconds))


def signed_right(handler, body, service):
    """The signature, computed again from what arrived."""
    auth = handler.headers.get('Authorization', '')
    if not auth.startswith('AWS4-HMAC-SHA256 '):
        return False
    access = auth.split('Credential=')[1].split('/')[0]
    if botocore is None:
        return auth.split('/')[3] == service
    names = auth.split('SignedHeaders=')[1].split(',')[0].split(';')
    request = botocore.awsrequest.AWSRequest(method='POST', url='http://%s/' % handler.headers['Host'], data=body.encode())
    for name in names:
        request.headers[name] = handler.headers[name]
    keys = botocore.credentials.Credentials(access, 'SECRET-' + access, handler.headers.get('X-Amz-Security-Token'))
    signer = botocore.auth.SigV4Auth(keys, service, auth.split('/')[2])
    request.context['timestamp'] = handler.headers['X-Amz-Date']
    canonical = signer.canonical_request(request)
    return auth.endswith('Signature=' + signer.signature(signer.string_to_sign(request, canonical), request))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    clock_offset = 0

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + self.clock_offset, usegmt=True)

    def answer(self, status, text, kind='text/xml'):
        body = text.encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, message='m'):
        self.answer(status, '<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error>'
                    '<RequestId>r</RequestId></ErrorResponse>' % (code, message))

    def access(self):
        return self.headers.get('Authorization', '').partition('Credential=')[2].split('/')[0]

    def expired(self):
        return bool(self.access()) and self.access() in VARS['expired'].split(',')

    def do_POST(self):
        self.clock_offset = 0
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        if self.headers.get('X-Amz-Target'):
            return self.quotas(body)
        fields = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
        if fields['Action'].startswith('AssumeRole'):
            return self.assume(fields, body)
        count('ec2')
        if not signed_right(self, body, 'ec2'):
            return self.refuse(403, 'SignatureDoesNotMatch')
        if self.expired():
            return self.refuse(400, 'ExpiredToken', 'The security token included in the request is expired')
        count('ec2-' + self.access())
        if fields['Action'] == 'RunInstances':
            return self.launch(fields['ClientToken'], int(fields['MaxCount']))
        if fields['Action'] == 'CreateFleet':
            return self.answer(200, '<CreateFleetResponse><fleetId>f</fleetId><errorSet><item><errorCode>InsufficientInstanceCapacity'
                               '</errorCode></item></errorSet><fleetInstanceSet/></CreateFleetResponse>')
        self.answer(200, '<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>')

    def launch(self, token, n):
        if token == 'ice':
            self.refuse(500, 'InsufficientInstanceCapacity')
        elif token == 'throttle':
            self.refuse(503, 'RequestLimitExceeded')
        else:
            ids = ''.join('<item><instanceId>i-%d</instanceId></item>' % i for i in range(1 if token == 'few' else n))
            self.answer(200, '<RunInstancesResponse><instancesSet>%s</instancesSet></RunInstancesResponse>' % ids)

    def assume(self, fields, body):
        role = fields['RoleArn'].rpartition('/')[2]
        n = count('role-' + role)
        web = fields['Action'] == 'AssumeRoleWithWebIdentity'
        if web and (self.headers.get('Authorization') or fields['WebIdentityToken'] != 'web token'):
            return self.refuse(400, 'InvalidIdentityToken')
        if role == 'skew':
            self.clock_offset = 1200
            sent = time.mktime(time.strptime(self.headers['X-Amz-Date'], '%Y%m%dT%H%M%SZ')) - time.timezone
            if abs(sent - time.time() - 1200) > 300:
                return self.refuse(403, 'SignatureDoesNotMatch', 'Signature expired: 1 is now earlier than 2')
        if not web and not signed_right(self, body, 'sts'):
            return self.refuse(403, 'SignatureDoesNotMatch', 'wrong')
        if self.expired():
            return self.refuse(403, 'ExpiredToken', 'expired')
        if role == 'echo':
            return self.refuse(403, 'SignatureDoesNotMatch', 'should have been SECRET-BASE')
        if role == 'denied':
            return self.refuse(403, 'AccessDenied', 'may not assume')
        if role == 'throttled' and n == 1:
            return self.refuse(400, 'Throttling', 'Rate exceeded')
        if role == 'slow':
            time.sleep(0.3)
        if role == 'external' and fields.get('ExternalId') != 'ex&1':
            return self.refuse(403, 'AccessDenied', 'no external id')
        if role == 'named' and (fields['RoleSessionName'], fields.get('DurationSeconds')) != ('me', '3600'):
            return self.refuse(403, 'AccessDenied', 'other name or duration')
        left = 660 if role == 'short' else 300 if role == 'tiny' else 3600
        result = 'AssumeRoleWithWebIdentity' if web else 'AssumeRole'
        key = '%s.%d.%s' % (role, n, 'web' if web else self.access())
        self.answer(200, '<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult><Credentials>'
                    '<AccessKeyId>%s</AccessKeyId><SecretAccessKey>SECRET-%s</SecretAccessKey>'
                    '<SessionToken>TOKEN</SessionToken><Expiration>%s</Expiration></Credentials></%sResult></%sResponse>' % (
                        result, result, key, key, until(left), result, result))

    def quotas(self, body):
        ask = json.loads(body)
        count('quotas')
        target = self.headers['X-Amz-Target']
        if target != 'ServiceQuotasV20190624.ListServiceQuotas' or not signed_right(self, body, 'servicequotas'):
            return self.answer(400, '{"__type":"InvalidSignatureException","message":"no"}', JSON)
        if self.expired():
            return self.answer(400, '{"__type":"com.amazon.coral#ExpiredTokenException","message":"old"}', JSON)
        if ask['ServiceCode'] == 'denied':
            return self.answer(400, '{"__type":"AccessDeniedException","Message":"User is not authorized"}', JSON)
        if ask['ServiceCode'] == 'odd':
            return self.answer(200, '{"Quotas": 7}', JSON)
        page = int(ask.get('NextToken', '0') or '9')
        item = {'QuotaCode': 'L-%d' % page, 'QuotaName': 'name %d' % page, 'Value': 32.0 * (page + 1), 'Unit': 'None'}
        out = {'Quotas': [item]}
        out['NextToken'] = str(page + 1) if page < 2 else ''
        self.answer(200, json.dumps(out), JSON)

    def do_PUT(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        count('imds-token')
        self.answer(200, 'token', 'text/plain')

    def do_GET(self):
        if self.path.startswith('/log/'):
            with LOCK:
                return self.answer(200, str(COUNT.get(self.path[5:], 0)))
        if self.path.startswith('/set/'):
            name, value = self.path[5:].split('/')
            VARS[name] = urllib.parse.unquote(value)
            return self.answer(200, '')
        if self.path.startswith('/container'):
            n = count('container')
            if self.headers.get('Authorization') != 'container token':
                return self.answer(403, '')
            return self.answer(200, '{"AccessKeyId":"C%d","SecretAccessKey":"SECRET-C%d","Token":"T","Expiration":"%s"}' % (
                n, n, until(3600)))
        if self.headers.get('X-aws-ec2-metadata-token') != 'token' or VARS['imds'] != 'on':
            return self.answer(404 if VARS['imds'] != 'on' else 401, '')
        if self.path.endswith('/iam/security-credentials/'):
            return self.answer(200, 'role1')
        n = count('imds-keys')
        time.sleep(0.2)
        self.answer(200, '{"Code":"Success","AccessKeyId":"I%d","SecretAccessKey":"SECRET-I%d","Token":"T",'
                    '"Expiration":"%s"}' % (n, n, until(int(VARS['imds_left_s']))))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(pem=None):
    server = Server(('127.0.0.1', 0), Handler)
    if pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


print(serve(), serve(sys.argv[1]) if len(sys.argv) > 1 else 0, flush=True)
sys.stdin.read()
os._exit(0)
