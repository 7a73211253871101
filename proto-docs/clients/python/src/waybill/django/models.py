"""The tables that `waybill.sync_store` and `waybill.receiver` write, for migrations and the admin site."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class SyncRecord(models.Model):
    mode = models.TextField()
    local_order_id = models.TextField()
    status = models.TextField()
    body = models.TextField(null=True)
    body_sha256 = models.TextField()
    attempt = models.IntegerField()
    attempted_at_ms = models.BigIntegerField()
    lease_until_ms = models.BigIntegerField()
    error_code = models.TextField(null=True)
    error_message = models.TextField(null=True)
    retry_at_ms = models.BigIntegerField(null=True)
    order_id = models.TextField(null=True)
    tracking_code = models.TextField(null=True)
    tracking_url = models.TextField(null=True)
    delivery_status = models.TextField(null=True)

    class Meta:
        db_table = "waybill_sync"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["mode", "local_order_id"], name="waybill_sync_order"),
        ]

    def __str__(self) -> str:
        return f"{self.local_order_id} ({self.mode}): {self.status}"


class ReceivedEvent(models.Model):
    event_id = models.TextField(primary_key=True)
    received_at_ms = models.BigIntegerField()

    class Meta:
        db_table = "waybill_events"
        indexes: ClassVar = [models.Index(fields=["received_at_ms"], name="waybill_events_received")]

    def __str__(self) -> str:
        return self.event_id


class OrderSequence(models.Model):
    order_id = models.TextField(primary_key=True)
    last_sequence = models.BigIntegerField()

    class Meta:
        db_table = "waybill_sequences"

    def __str__(self) -> str:
        return f"{self.order_id}: {self.last_sequence}"


class FeedCursor(models.Model):
    reader = models.TextField(primary_key=True)
    feed_cursor = models.TextField()

    class Meta:
        db_table = "waybill_cursors"

    def __str__(self) -> str:
        return self.reader
