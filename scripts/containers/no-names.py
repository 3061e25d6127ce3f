"""Answers each DNS question with NXDOMAIN. usage: no-names.py ADDRESS"""

import socket
import sys

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
while True:
    question, client = server.recvfrom(1500)
    if len(question) > 12:
        end = question.index(b"\0", 12) + 5
        server.sendto(question[:2] + b"\x81\x83\0\1" + b"\0" * 6 + question[12:end], client)
