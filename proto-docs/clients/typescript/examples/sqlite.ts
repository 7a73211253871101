/**
 * The sync record and the receiver on SQLite, with `libsql` or `better-sqlite3`, which have the same calls:
 *
 *   const { query, transaction } = openSqlite("shop.db");
 *   new SqlSyncStore({ query, dialect: "sqlite", mode });
 *   new Receiver({ transaction, dialect: "sqlite", mode, secrets });
 *
 * One connection has one transaction at a time. If webhooks that arrive at once shared it, the statements of one would become
 * part of the transaction of another. So transactions have a connection of their own, and wait for each other.
 */
import type { Query, Transaction } from "@waybill/client";
import Database from "libsql";

export function openSqlite(file: string): { query: Query; transaction: Transaction; close: () => void } {
  const [plain, exclusive] = [new Database(file), new Database(file)];
  for (const database of [plain, exclusive]) {
    // Readers do not wait for a writer, and writers of several processes wait for each other.
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA busy_timeout = 10000");
  }
  const queryOf =
    (database: Database.Database): Query =>
    (text, params) =>
      database.prepare(text).all(params) as Record<string, unknown>[];
  let last: Promise<unknown> = Promise.resolve();
  const transaction: Transaction = (work) => {
    const run = async () => {
      // Takes the lock at once: a transaction that reads first could not take it later.
      exclusive.exec("BEGIN IMMEDIATE");
      try {
        const result = await work(queryOf(exclusive));
        exclusive.exec("COMMIT");
        return result;
      } catch (error) {
        exclusive.exec("ROLLBACK");
        throw error;
      }
    };
    const result = last.then(run, run);
    last = result.catch(() => undefined);
    return result;
  };
  const close = () => {
    plain.close();
    exclusive.close();
  };
  return { query: queryOf(plain), transaction, close };
}
