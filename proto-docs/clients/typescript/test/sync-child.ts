/** A child process of a test. It asks for the delivery of a local order and ends at the step that the test names. */
import { type Dialect, SqlSyncStore, Sync, type SyncStore } from "@waybill/client";
import { open } from "./databases.js";
import { client, LIVE_KEY, newOrder } from "./support.js";

const [dialect, address, localOrderId, moment, minutes] = process.argv.slice(2) as [
  Dialect,
  string,
  string,
  string,
  string,
];

function dieAt(name: string): void {
  if (moment === name) process.kill(process.pid, "SIGKILL");
}

const shop = await open(dialect, address);
// Leases end by the clock, so the rounds of the test need not wait.
const environment = { nowMs: () => Date.now() + Number(minutes) * 60_000 };
const waybill = client(LIVE_KEY, {
  deadlineMs: 20_000,
  environment,
  onRequest: () => dieAt("before the request"),
});
const sql = new SqlSyncStore({ query: shop.query, dialect, mode: waybill.mode });
const store: SyncStore = {
  get: (id) => sql.get(id),
  claim: async (...claim) => {
    dieAt("before the claim");
    const claimed = await sql.claim(...claim);
    if (claimed) dieAt("after the claim");
    return claimed;
  },
  created: async (...details) => {
    dieAt("after the answer");
    await sql.created(...details);
    dieAt("after the outcome");
  },
  failed: (...failure) => sql.failed(...failure),
  open: (...filter) => sql.open(...filter),
};
const sync = new Sync({ client: waybill, store, website: "shop" });
const outcome = await sync.ensure(localOrderId, () => newOrder(localOrderId));
await shop.close();
process.stdout.write(outcome.status);
