// A real OpenID Connect provider for tests: `node identity-provider.mjs <port> <console's URL> [<log-in page of a business>…]`.
// Port 0 is any free port.
// Prints its issuer, and ends with its standard input. Everybody logs in with any password; the name decides the groups.
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];
/** The groups of each person. Others have none. */
const GROUPS = { asha: ["everybody", "ops"], binu: ["everybody"] };

const [port, console_, ...logInPages] = process.argv.slice(2);

const keys = await Promise.all(
  ALGORITHMS.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg);
    return { ...(await exportJWK(privateKey)), alg, use: "sig" };
  }),
);

/** One client per algorithm: `waybill-RS256`. */
const clients = ALGORITHMS.map((alg) => ({
  client_id: `waybill-${alg}`,
  client_secret: "a secret of the provider in tests",
  redirect_uris: [`${console_}/operator/sso`, ...logInPages.map((page) => `${page}/return`)],
  post_logout_redirect_uris: [`${console_}/operator`, ...logInPages],
  id_token_signed_response_alg: alg,
}));

const configuration = {
  clients,
  jwks: { keys },
  claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  enabledJWA: { idTokenSigningAlgValues: ALGORITHMS },
  pkce: { methods: ["S256"], required: () => true },
  cookies: { keys: ["of tests"] },
  findAccount: (_context, sub) => ({
    accountId: sub,
    claims: () => ({
      sub,
      email: `${sub}@operator.example`,
      email_verified: true,
      name: `${sub} at work`,
      groups: GROUPS[sub.split("-")[0]] ?? [],
    }),
  }),
};

const server = createServer();
server.listen(Number(port), "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.on("request", new Provider(issuer, configuration).callback());
  process.stdout.write(`${issuer}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
