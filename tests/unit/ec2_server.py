#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A little EC2 and metadata service on loopback for test_http: each request names the scenario it wants to be treated by.

The scenario is the ClientToken, or the first value of the first filter. Prints its port; ends when its standard input is closed.
GET /log/SCENARIO tells "requests distinct-bodies distinct-connections".
"""
import email.utils
import http.server
import os
import socket
import sys
import threading
import time
import urllib.parse

LOCK = threading.Lock()
SEEN = {}            # scenario -> list of (body, connection)
TOKENS = set()
HOUR = 3600


def instances(names, token=None):
    items = ''.join('<item><instancesSet><item><instanceId>%s</instanceId></item></instancesSet></item>' % n for n in names)
    more = '<nextToken>%s</nextToken>' % token if token else ''
    return '<DescribeInstancesResponse><reservationSet>%s</reservationSet>%s</DescribeInstancesResponse>' % (items, more)


def launched():
    return '<RunInstancesResponse><instancesSet><item><instanceId>i-1</instanceId></item></instancesSet></RunInstancesResponse>'


def error(code, message='m'):
    return '<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>req-1</RequestID></Response>' % (
        code, message)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    clock_offset = 0

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + self.clock_offset, usegmt=True)

    def answer(self, status, text, kind='text/xml', headers=()):
        body = text.encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        fields = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
        scenario = fields.get('ClientToken') or fields.get('Filter.1.Value.1') or fields.get('InstanceId.1') or ''
        with LOCK:
            log = SEEN.setdefault(scenario, [])
            log.append((body, id(self.connection)))
            count = len(log)
        self.clock_offset = 0
        good = launched() if fields['Action'] == 'RunInstances' else instances(['i-1'])
        if not self.headers.get('Authorization', '').startswith('AWS4-HMAC-SHA256 '):
            return self.answer(403, error('MissingAuthenticationToken'))
        getattr(self, 'on_' + scenario.split('-')[0], self.on_ok)(count, fields, good)

    def on_ok(self, count, fields, good):
        self.answer(200, good)

    def on_throttle(self, count, fields, good):
        if count <= 2:
            self.answer(503, error('RequestLimitExceeded'))
        else:
            self.answer(200, good)

    def on_always(self, count, fields, good):
        self.answer(503, error('RequestLimitExceeded'))

    def on_drop(self, count, fields, good):
        if count == 1:
            self.hang_up()
        else:
            self.answer(200, good)

    def on_dropthenthrottle(self, count, fields, good):
        if count == 1:
            self.hang_up()
        else:
            self.answer(503, error('RequestLimitExceeded'))

    def on_skew(self, count, fields, good):
        self.clock_offset = HOUR
        sent = time.mktime(time.strptime(self.headers['X-Amz-Date'], '%Y%m%dT%H%M%SZ')) - time.timezone
        if abs(sent - time.time() - HOUR) > 300:
            self.answer(403, error('RequestTimeTooSkewed', 'The difference is too large'))
        else:
            self.answer(200, good)

    def on_skewsigned(self, count, fields, good):
        """The same said in other words: they are EC2's for a signature whose date is off."""
        self.clock_offset = -HOUR
        sent = time.mktime(time.strptime(self.headers['X-Amz-Date'], '%Y%m%dT%H%M%SZ')) - time.timezone
        if abs(sent - time.time() + HOUR) > 300:
            self.answer(403, error('SignatureDoesNotMatch', 'Signature not yet current: a is still later than b (c + 5 min.)'))
        else:
            self.answer(200, good)

    def on_skewauth(self, count, fields, good):
        self.clock_offset = HOUR
        sent = time.mktime(time.strptime(self.headers['X-Amz-Date'], '%Y%m%dT%H%M%SZ')) - time.timezone
        if abs(sent - time.time() - HOUR) > 300:
            self.answer(401, error('AuthFailure', 'AWS was not able to validate the provided access credentials: the request is '
                                   'not within the allowed time'))
        else:
            self.answer(200, good)

    def on_chase(self, count, fields, good):
        """A clock that is never right."""
        self.clock_offset = HOUR * count
        self.answer(403, error('RequestTimeTooSkewed'))

    def on_noskew(self, count, fields, good):
        self.answer(403, error('SignatureDoesNotMatch', 'Signature expired: whatever the clock'))

    def on_slow(self, count, fields, good):
        time.sleep(30)

    def on_html(self, count, fields, good):
        self.answer(502, '<html><body>Bad Gateway of the site</body></html>', 'text/html')

    def on_page(self, count, fields, good):
        self.answer(200, '<!DOCTYPE html><html><body>Please log in</body></html>' if count == 1 else good, 'text/html')

    def on_empty(self, count, fields, good):
        self.answer(200, '' if count == 1 else good)

    def on_cut(self, count, fields, good):
        self.answer(200, good[:-30] if count == 1 else good)

    def on_cuterror(self, count, fields, good):
        """The code is whole, what follows is lost."""
        self.answer(500, error('InsufficientInstanceCapacity')[:-60])

    def on_busy(self, count, fields, good):
        if count == 1:
            self.answer(503, '')
        else:
            self.answer(200, good)

    def on_mismatch(self, count, fields, good):
        self.answer(400, error('IdempotentParameterMismatch', 'Arguments differ'))

    def on_dropthenmismatch(self, count, fields, good):
        if count == 1:
            self.hang_up()
        else:
            self.answer(400, error('IdempotentParameterMismatch', 'Arguments differ'))

    def on_quota(self, count, fields, good):
        self.answer(400, error('VcpuLimitExceeded', 'You have requested more vCPU capacity'))

    def on_proxy(self, count, fields, good):
        self.answer(407, '<html>Proxy Authentication Required</html>', 'text/html')

    def on_redirect(self, count, fields, good):
        self.answer(307, '', headers=[('Location', '/elsewhere')])

    def on_ice(self, count, fields, good):
        self.answer(500, error('InsufficientInstanceCapacity', 'none left'))

    def on_denied(self, count, fields, good):
        self.answer(403, error('UnauthorizedOperation', 'You are not authorized'))

    def on_echo(self, count, fields, good):
        self.answer(403, error('SomethingOdd', 'secret SECRETKEY1 token TOKEN1 end'))

    def on_longecho(self, count, fields, good):
        """Longer than what is kept of a message, which ends in the middle of the secret."""
        self.answer(403, error('SomethingOdd', 'x' * 590 + 'SECRETKEY1'))

    def on_pages(self, count, fields, good):
        pages = {None: (['i-1'], 'a&amp;b'), 'a&b': ([], 'c'), 'c': (['i-2', 'i-3'], None)}
        self.answer(200, instances(*pages[fields.get('NextToken')]))

    def on_badpage(self, count, fields, good):
        if 'NextToken' in fields:
            self.answer(400, error('InvalidParameterValue', 'The token is too old'))
        else:
            self.answer(200, instances(['i-1'], 'x'))

    def on_truncated(self, count, fields, good):
        self.answer(200, instances(['i-1', 'i-2'])[:-60] if count == 1 else instances(['i-1', 'i-2']))

    def on_expired(self, count, fields, good):
        if 'Credential=OLDKEY/' in self.headers['Authorization']:
            self.answer(400, error('ExpiredToken', 'The security token included in the request is expired'))
        else:
            self.answer(200, good)

    def on_role(self, count, fields, good):
        if 'Credential=ROLEKEY/' in self.headers['Authorization'] and self.headers['X-Amz-Security-Token'].startswith('ROLETOKEN'):
            self.answer(200, good)
        else:
            self.answer(403, error('AuthFailure'))

    def on_refused(self, count, fields, good):
        self.answer(400, error('ExpiredToken'))

    def on_i(self, count, fields, good):
        """TerminateInstances: ids that begin with i-0bad and a digit are unknown, with i-0kept protected."""
        ids = [v for k, v in fields.items() if k.startswith('InstanceId.')]
        bad = [i for i in ids if i[:6] == 'i-0bad' and i[6:].isdigit()]
        kept = [i for i in ids if i.startswith('i-0kept')]
        if bad:
            self.answer(400, error('InvalidInstanceID.NotFound', "The instance IDs '%s' do not exist" % ', '.join(bad)))
        elif kept:
            self.answer(400, error('OperationNotPermitted', "The instance '%s' may not be terminated. Modify its "
                                   "'disableApiTermination' instance attribute and try again." % kept[0]))
        else:
            with LOCK:
                SEEN.setdefault('ended', []).extend((i, 0) for i in ids)
            self.answer(200, '<TerminateInstancesResponse><instancesSet/></TerminateInstancesResponse>')

    def do_PUT(self):
        """Only the metadata token, and only with its lifetime."""
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.path != '/latest/api/token' or self.headers.get('X-aws-ec2-metadata-token-ttl-seconds') != '21600':
            return self.answer(400, '')
        with LOCK:
            token = 'token%d' % (len(TOKENS) + 1)
            TOKENS.clear()
            TOKENS.add(token)
            SEEN.setdefault('tokens', []).append((token, 0))
        self.answer(200, token, 'text/plain')

    def do_GET(self):
        if self.path.startswith('/log/'):
            with LOCK:
                log = list(SEEN.get(self.path[5:], []))
            return self.answer(200, '%d %d %d' % (len(log), len({b for b, _ in log}), len({c for _, c in log})))
        if self.path == '/control/forget-tokens':
            with LOCK:
                TOKENS.clear()
                TOKENS.add('other')
            return self.answer(200, '')
        if self.headers.get('X-aws-ec2-metadata-token') not in TOKENS:
            return self.answer(401, '')
        base = '/latest/meta-data/'
        role = ('{"Code":"Success","AccessKeyId":"ROLEKEY","SecretAccessKey":"s","Token":"ROLETOKEN%f",'
                '"Expiration":"2999-01-01T00:00:00Z"}' % time.time())  # other keys each time
        answers = {'instance-id': 'i-77', 'placement/region': 'us-east-1', 'iam/security-credentials/': 'role1\n',
                   'iam/security-credentials/role1': role, 'big': 'x' * 1100000}
        text = answers.get(self.path[len(base):]) if self.path.startswith(base) else None
        self.answer(404 if text is None else 200, text or '', 'text/plain')


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
os._exit(0)
