/** The integrator's own database: PostgreSQL of the stack, or a SQLite file. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Dialect, type Query, TABLES, type Transaction } from "@waybill/client";

export interface Shop {
  dialect: Dialect;
  query: Query;
  transaction: Transaction;
  close(): Promise<void>;
}

/** Creates an empty database with the tables, and returns its address. */
export async function create(dialect: Dialect): Promise<string> {
  const address = dialect === "postgres" ? await createPostgres() : await sqliteFile();
  const shop = await open(dialect, address);
  for (const table of TABLES) await shop.query(table, []);
  await shop.close();
  return address;
}

/** Loads only the driver that is needed, because the tests start many processes. */
export function open(dialect: Dialect, address: string): Promise<Shop> {
  return dialect === "postgres" ? openPostgres(address) : openSqlite(address);
}

async function createPostgres(): Promise<string> {
  const file = process.env.WAYBILL_TEST_SERVERS;
  if (!file) throw new Error("Run the tests with target/debug/local-stack with-servers");
  const { default: pg } = await import("pg");
  const { postgres } = JSON.parse(await readFile(file, "utf8"));
  const server = `postgres://waybill_admin:${postgres.password}@127.0.0.1:${postgres.port}`;
  const admin = new pg.Client(`${server}/postgres`);
  await admin.connect();
  const name = `client_${randomUUID().replaceAll("-", "")}`;
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  return `${server}/${name}`;
}

async function openPostgres(address: string): Promise<Shop> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: address, max: 4 });
  return {
    dialect: "postgres",
    query: (text, params) => pool.query(text, params),
    transaction: async (work) => {
      const connection = await pool.connect();
      try {
        await connection.query("BEGIN");
        const result = await work((text, params) => connection.query(text, params));
        await connection.query("COMMIT");
        return result;
      } catch (error) {
        await connection.query("ROLLBACK");
        throw error;
      } finally {
        connection.release();
      }
    },
    close: () => pool.end(),
  };
}

async function sqliteFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "client-")), "shop.db");
}

/** Loaded only by the tests on SQLite. */
async function openSqlite(address: string): Promise<Shop> {
  const sqlite = await import("../examples/sqlite.js");
  const { query, transaction, close } = sqlite.openSqlite(address);
  return { dialect: "sqlite", query, transaction, close: async () => close() };
}
