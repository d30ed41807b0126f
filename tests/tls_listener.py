"""Answer every POST over TLS with 200, and append its body to a file: tls_listener.py CERT KEY PORT FOLDER

The port (0: a free one) is written to FOLDER/port once it listens; bodies go to FOLDER/calls, a line each.
"""
import http.server
import os
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(os.path.join(folder, "calls"), "ab") as calls:
            calls.write(body + b"\n")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.HTTPServer):
    def handle_error(self, request, client_address):
        pass  # a client that does not like the certificate


certificate, key, port, folder = sys.argv[1:]
server = Server(("127.0.0.1", int(port)), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as file:
    print(server.server_port, file=file)
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
