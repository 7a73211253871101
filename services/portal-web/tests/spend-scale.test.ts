// The sums of the days of the spend chart.

import { expect, test } from "@playwright/test";
import type { SpendDay } from "../src/api/wallet";
import { feesOf, scaleTop, totalsOf } from "../src/pages/wallet/spend-scale";

const day = { date: "2026-01-31", feesPaise: 4_900, attemptFeesPaise: 3_500, refundsPaise: 100, orders: 1 };
/** Of an earlier release of portal-api. */
const earlier = { date: "2026-02-01", feesPaise: 4_900, refundsPaise: 0, orders: 1 } as SpendDay;

test("the fees of a day include those of further attempts, also where an earlier release leaves them out", () => {
  expect([day, earlier].map(feesOf)).toEqual([8_400, 4_900]);
  const totals = { feesPaise: 9_800, attemptFeesPaise: 3_500, refundsPaise: 100, orders: 2 };
  expect(totalsOf([day, earlier])).toEqual(totals);
  expect(scaleTop([earlier])).toBe(5_000);
});
