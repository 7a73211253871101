/** A shop: Medusa as its own process, with the files of the README, on a new database. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with \`make test-medusa\``);
  return value;
}

const SHOP = variable("SHOP");
const EMAIL = "staff@shop.example";
const PASSWORD = "correct horse battery staple";

// biome-ignore lint/suspicious/noExplicitAny: the answers of Medusa are compared, not computed with.
type Json = any;

export interface Answer {
  status: number;
  body: Json;
}

/** The configuration of a shop with the entry of the README. */
const configWith = (entry: string) => `
import { defineConfig } from "@medusajs/framework/utils";

module.exports = defineConfig({
  admin: { disable: true },
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL ?? "",
    http: {
      storeCors: "http://localhost:8000",
      adminCors: "http://localhost:9000",
      authCors: "http://localhost:9000",
      jwtSecret: process.env.JWT_SECRET ?? "",
      cookieSecret: process.env.COOKIE_SECRET ?? "",
    },
  },
  modules: [${entry}],
});
`;

/** Writes each file that the README shows, and compiles it strictly with Medusa's own types. */
export async function writeReadmeFiles(): Promise<void> {
  const readme = await readFile(new URL("../../../README.md", import.meta.url), "utf8");
  const entry = /^In `medusa-config\.ts`, add .*?\n\n```ts\n(.*?)```/ms.exec(readme)?.[1];
  if (!entry) throw new Error("the README shows no entry of medusa-config.ts");
  const shown = [...readme.matchAll(/^`([\w/-]+\.ts)`:\n\n```ts\n(.*?)```/gms)];
  if (shown.length !== 2) throw new Error(`the README shows ${shown.length} files`);
  const files = [
    ["medusa-config.ts", configWith(entry)],
    ...shown.map(([, path = "", code = ""]) => [path, code]),
  ];
  const folder = join(SHOP, "readme");
  for (const [path = "", code = ""] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), code);
  }
  // Medusa would load both forms of a file.
  const output = ["--rootDir", folder, "--outDir", SHOP];
  const options = [...variable("TSC_OPTIONS").split(/\s+/), ...output];
  const paths = files.map(([path = ""]) => join(folder, path));
  await run(variable("TSC"), [...options, ...paths], { cwd: SHOP }).catch((error) => {
    throw new Error(error.stdout || String(error));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

export interface Database {
  query(text: string, params?: unknown[]): Promise<{ rows: Json[] }>;
  connect(): Promise<Database & { release(): void }>;
  end(): Promise<void>;
}

export function openDatabase(url: string): Database {
  const { Pool } = createRequire(join(SHOP, "package.json"))("pg");
  return new Pool({ connectionString: url });
}

export class Shop {
  readonly origin: string;
  readonly #port: number;
  readonly #env: NodeJS.ProcessEnv;
  #process: ReturnType<typeof spawn> | undefined;
  #token = "";

  constructor(port: number, env: Record<string, string>) {
    this.#port = port;
    this.origin = `http://127.0.0.1:${port}`;
    const secrets = { JWT_SECRET: "jwt", COOKIE_SECRET: "cookie" };
    this.#env = {
      ...process.env,
      MEDUSA_DISABLE_TELEMETRY: "true",
      NODE_ENV: "production",
      ...secrets,
      ...env,
    };
  }

  async migrate(): Promise<void> {
    await this.#medusa("db:migrate");
    await this.#medusa("user", "--email", EMAIL, "--password", PASSWORD);
  }

  /** With other settings than before, if any. */
  async start(env: Record<string, string> = {}): Promise<void> {
    Object.assign(this.#env, env);
    const log = createWriteStream(join(SHOP, "medusa.log"), { flags: "a" });
    await once(log, "open");
    const parameters = [join(SHOP, "node_modules/.bin/medusa"), "start", "--port", String(this.#port)];
    const started = spawn(process.execPath, [...parameters, "--host", "127.0.0.1"], {
      cwd: SHOP,
      env: this.#env,
      stdio: ["ignore", log, log],
    });
    this.#process = started;
    await eventually(
      async () => {
        if (started.exitCode !== null) throw new Error(`Medusa ended; see ${join(SHOP, "medusa.log")}`);
        return (await fetch(`${this.origin}/health`).catch(() => undefined))?.ok;
      },
      "the start of Medusa",
      300_000,
    );
    const login = await this.call("POST", "/auth/user/emailpass", { email: EMAIL, password: PASSWORD });
    this.#token = login.body.token;
  }

  /** Ends it without any time to finish. */
  kill(): void {
    this.#process?.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    const ended = this.#process;
    this.#process = undefined;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill("SIGKILL");
    await once(ended, "exit");
  }

  admin(method: string, path: string, body?: object): Promise<Answer> {
    return this.call(method, `/admin${path}`, body, { authorization: `Bearer ${this.#token}` });
  }

  async call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(this.origin + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  async #medusa(...parameters: string[]): Promise<void> {
    const program = join(SHOP, "node_modules/.bin/medusa");
    await run(process.execPath, [program, ...parameters], {
      cwd: SHOP,
      env: this.#env,
      timeout: 300_000,
    }).catch((error) => {
      throw new Error(`medusa ${parameters[0]}: ${error.stdout}${error.stderr}`);
    });
  }
}

export function ok({ status, body }: Answer): Json {
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Waits for a condition. */
export async function eventually<Result>(
  read: () => Result | undefined | false | Promise<Result | undefined | false>,
  what: string,
  maxMs = 30_000,
): Promise<Result> {
  const endsAt = Date.now() + maxMs;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > endsAt) throw new Error(`${what} did not happen within ${maxMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
