// What more to do about a webhook that was not received. The log's own words say what is wrong, and often what to do;
// this adds to those that leave it open.

const ADVICE: [pattern: RegExp, advice: string][] = [
  [/answered (400|413|415|422)/, "Your endpoint’s own log should say why."],
  [/answered 410/, "Correct the URL, then enable the endpoint."],
  [/answered 429/, "Set a limit of webhooks per second in the settings, or answer with Retry-After."],
  [/answered 50[2-4]/, "See whether your endpoint runs, and what the proxy’s log says."],
  [/only a 2xx/, "Answer with 200 as soon as the webhook is taken, and do the work afterwards."],
  [/nothing listens/, "Start your endpoint, or check the port in the URL."],
  [/cannot be reached/, "The host may be down, or a firewall in between."],
  [/closed before/, "Your server, or a proxy in front of it, hung up. See their logs."],
  [/not valid HTTP/, "Something else than a web server answers there. Check the URL’s port and scheme."],
  [/^TLS: (?!the handshake)/, "Renew the certificate, for the name in the URL and with its whole chain."],
  [/not public/, "Webhooks go to public addresses only. While you develop, use a tunnel."],
  [/no longer subscribes/, "Subscribe to the event again, then recover what was missed."],
  [/discarded while/, "You had it discarded. Redeliver sends it all the same."],
  [/connection failed/, "If that stays, look at your firewall and proxy."],
];

export function failureAdvice(error: string | null | undefined): string | null {
  return ADVICE.find(([pattern]) => error && pattern.test(error))?.[1] ?? null;
}
