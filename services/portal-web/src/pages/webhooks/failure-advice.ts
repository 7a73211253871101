// Advice for failed deliveries whose error message does not say what to do.

const ADVICE: [pattern: RegExp, advice: string][] = [
  [/returned (400|413|415|422)/, "See your endpoint’s log for the reason."],
  [/returned 410/, "Correct the URL, then enable the endpoint."],
  [/returned 429/, "Set the maximum webhooks per second in the settings, or respond with Retry-After."],
  [/returned 50[2-4]/, "Check that your endpoint is running, and check the proxy’s log."],
  [/only a 2xx/, "Respond with 200 as soon as the webhook is stored, and process it afterwards."],
  [/nothing listens/, "Start your endpoint, or check the port in the URL."],
  [/cannot be reached/, "The host may be down, or a firewall may block the connection."],
  [/closed before/, "Your server, or a proxy in front of it, closed the connection. See their logs."],
  [/not valid HTTP/, "The URL’s port does not speak HTTP. Check the port and the scheme."],
  [
    /^TLS: (?!the handshake)/,
    "Install a valid certificate for the host name in the URL, with its full chain.",
  ],
  [/not public/, "Webhooks are sent to public addresses only. Use a tunnel for development."],
  [/no longer subscribes/, "Subscribe to the event again, then recover the missed webhooks."],
  [/discarded while/, "A user discarded it. You can still redeliver it."],
  [/connection failed/, "If this continues, check your firewall and proxy."],
];

export function failureAdvice(error: string | null | undefined): string | null {
  return ADVICE.find(([pattern]) => error && pattern.test(error))?.[1] ?? null;
}
