"""The bodies of events are taken from an answer byte for byte."""

from __future__ import annotations

import json
import unittest

from waybill._elements import elements_of


class Elements(unittest.TestCase):
    def test_elements_are_the_bytes_that_were_sent(self) -> None:
        sent = ['{"a":"],[{\\"", "b": [1, {"data":[2,3]}]}', '{"n":1.0,"\\u00e9":"é☕"}', "{}"]
        text = f'{{"other":["data",[4]], "next":"data", "data" : [\n{sent[0]} ,\t{sent[1]},{sent[2]} ],"hasMore":true}}'
        self.assertEqual(elements_of(text.encode()), [each.encode() for each in sent])
        self.assertEqual([json.loads(each) for each in elements_of(text.encode())], json.loads(text)["data"])
        for empty in ('{"data":[]}', '{"data":[ ],"next":"x"}', '{"next":[1]}'):
            self.assertEqual(elements_of(empty.encode()), [])
