"""The signature vectors that all clients share, and the helpers for callers' own tests."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from waybill import WebhookError, construct_event, is_known, sign_test_event, webhooks

#: What the clients of all languages share.
VECTORS = Path(__file__).resolve().parents[2] / "vectors"
SIGNATURES = json.loads((VECTORS / "webhook-signatures.json").read_text(encoding="utf-8"))
SECRET = SIGNATURES["secrets"][0]


class Vectors(unittest.TestCase):
    def test_each_case(self) -> None:
        self.assertGreater(len(SIGNATURES["cases"]), 20)
        for case in SIGNATURES["cases"]:
            with self.subTest(case["name"]):
                reason = None
                try:
                    construct_event(
                        case["body"].encode(), case["headers"], SIGNATURES["secrets"], now=SIGNATURES["now"]
                    )
                except WebhookError as error:
                    reason = error.reason
                self.assertEqual(reason, case.get("reason"))
                self.assertEqual(reason is None, case["valid"])


class Helpers(unittest.TestCase):
    def test_the_known_kinds_are_those_of_the_openapi_document(self) -> None:
        document = json.loads((VECTORS.parents[1] / "openapi" / "order-api.json").read_text(encoding="utf-8"))
        kinds = document["components"]["schemas"]["OtherWebhookEvent"]["properties"]["event"]["not"]["enum"]

        def known(kind: str) -> bool:
            body = json.dumps({"id": "evt_1", "event": kind, "mode": "test", "order": None})
            return is_known(construct_event(body, sign_test_event(body, SECRET), SECRET))

        self.assertTrue(kinds and all(map(known, kinds)))
        self.assertEqual(set(kinds), webhooks._KINDS)
        self.assertFalse(known("order.teleported"))

    def test_signed_test_events_pass_with_either_scheme_and_any_prefix(self) -> None:
        body = json.dumps({"id": "evt_1", "event": "order.teleported", "mode": "test", "order": None})
        headers = sign_test_event(body, SECRET, header_prefix="Acme")
        for kept in ("webhook", "Acme"):
            part = {name: value for name, value in headers.items() if name.startswith(kept)}
            event = construct_event(body.encode(), part, SECRET, header_prefix="acme")
            self.assertEqual(event["event"], "order.teleported")
        with self.assertRaises(WebhookError) as caught:
            construct_event(body + " ", headers, SECRET)
        self.assertEqual(caught.exception.reason, "mismatch")

    def test_signed_bytes_that_are_no_event_are_refused(self) -> None:
        body = b'{"id":"evt_1","event":"order.created","mode":"test"}'
        with self.assertRaises(WebhookError) as caught:
            sign_test_event(b"[]", SECRET)
        self.assertEqual(caught.exception.reason, "not_an_event")
        with self.assertRaises(WebhookError):
            sign_test_event(b"[" * 100_000, SECRET)
        self.assertEqual(construct_event(body, sign_test_event(body, SECRET), [SECRET])["id"], "evt_1")

    def test_wrong_secrets_and_bodies_are_errors_of_the_caller(self) -> None:
        for secret in ("", "whsec_", SECRET[:-1], SECRET + "\n", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="):
            with self.assertRaises(ValueError):
                construct_event(b"{}", {}, secret)
        with self.assertRaises(ValueError):
            construct_event(b"{}", {}, [])
        with self.assertRaises(TypeError):
            construct_event({"id": "evt_1"}, {}, SECRET)  # type: ignore[arg-type]
