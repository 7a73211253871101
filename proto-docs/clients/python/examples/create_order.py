"""Creates a test order and moves it to its delivery. It reads WAYBILL_API_KEY and WAYBILL_BASE_URL."""

from __future__ import annotations

import os
import sys

from waybill import InvalidRequestError, Waybill


def main(reference: str) -> None:
    waybill = Waybill(os.environ["WAYBILL_API_KEY"], os.environ["WAYBILL_BASE_URL"], app_info="example/1.0")
    try:
        created = waybill.orders.create(
            {
                "orderReference": reference,
                "customer": {"name": "Asha Rao", "phone": "+919800000001"},
                "delivery": {
                    "addressLine1": "12th Main Road",
                    "city": "Bengaluru",
                    "state": "Karnataka",
                    "pincode": "560038",
                },
                "payment": {"paymentType": "prepaid", "deliveryFeePaise": 4900},
            },
            idempotency_key=f"example-{reference}",
        )
    except InvalidRequestError as error:
        sys.exit(str(error))
    for event in ("driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"):
        order = waybill.orders.simulate(created.order["id"], event)
        print(order["status"], order["trackingUrl"])


if __name__ == "__main__":
    main(sys.argv[1])
