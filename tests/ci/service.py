#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""service.py FOLDER - the part of GitHub's and GitLab's interface that recipes/ci/comment uses, on loopback.

Writes its address to FOLDER/address; comments are in FOLDER/comments.json. Requests without the token "token" are refused with 403, as a fork's are.
"""
import http.server
import json
import re
import sys

FOLDER = sys.argv[1]
COMMENTS = [{"id": number, "body": f"talk {number}"} for number in range(1, 121)]  # more than a page


class Service(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body):
        with open(FOLDER + "/comments.json", "w") as file:
            json.dump(COMMENTS, file)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def take(self):
        if "token" not in (self.headers.get("PRIVATE-TOKEN"), (self.headers.get("Authorization") or "").removeprefix("Bearer ")):
            return self.answer(403, {"message": "Resource not accessible by integration"})
        path, _, query = self.path.partition("?")
        of_request = re.fullmatch(r"/repos/ann/app/issues/7/comments|/projects/3/merge_requests/7/notes", path)
        of_one = re.fullmatch(r"/repos/ann/app/issues/comments/(\d+)|/projects/3/merge_requests/7/notes/(\d+)", path)
        if self.command == "GET" and of_request:
            page = int(re.search(r"\bpage=(\d+)", query).group(1)) - 1
            return self.answer(200, COMMENTS[100 * page : 100 * page + 100])
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if self.command == "POST" and of_request:
            COMMENTS.append({"id": len(COMMENTS) + 1, "body": body})
            return self.answer(201, COMMENTS[-1])
        if of_one and self.command == ("PATCH" if of_one.group(1) else "PUT"):
            comment = COMMENTS[int(of_one.group(1) or of_one.group(2)) - 1]
            comment["body"] = body
            return self.answer(200, comment)
        return self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = do_PUT = take


server = http.server.HTTPServer(("127.0.0.1", 0), Service)
with open(FOLDER + "/address", "w") as out:
    out.write(f"http://127.0.0.1:{server.server_port}\n")
server.serve_forever()
