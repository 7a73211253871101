// What to do about a webhook that was not received, by what the log says of it.

const BY_STATUS: Record<number, string> = {
  304: "That is no answer to a POST. Answer with 2xx.",
  400: "Your endpoint did not accept the body. See its own log.",
  401: "Your endpoint refused it. Check the signing secret, and what stands in front of the endpoint.",
  403: "Your endpoint refused it. Check the signing secret, and what stands in front of the endpoint.",
  404: "Check the path of the URL; it must accept POST.",
  405: "Check the path of the URL; it must accept POST.",
  408: "Answer at once, and do the work afterwards.",
  410: "Your endpoint says that it is gone, and is disabled for it. Correct the URL, then enable it.",
  413: "Your endpoint must take bodies of some KiB.",
  415: "Your endpoint must take application/json.",
  422: "Your endpoint did not accept the body. See its own log.",
  429: "Set a limit of webhooks per second in the settings, or answer with Retry-After.",
};

const BY_WORDS: [pattern: RegExp, advice: string][] = [
  [/redirect/i, "Redirects are not followed. Set the URL to the final address."],
  [/headers are too large/i, "A status is answer enough: send fewer headers."],
  [/no complete answer/i, "Answer with 2xx at once, within 10 seconds, and do the work afterwards."],
  [/cannot be resolved/i, "Check the host in the URL, and its DNS records."],
  [/refused|cannot be reached/i, "Nothing listens there, or a firewall is in between."],
  [/closed before/i, "Your server, or a proxy in front of it, hung up. See their logs."],
  [
    /not valid HTTP/i,
    "Something else than a web server answers at that port. Check the URL’s port and scheme.",
  ],
  [/TLS: the handshake/i, "Check that this port speaks https."],
  [/TLS|certificate/i, "Renew the certificate, and install its whole chain, for the name in the URL."],
  [/not public/i, "Webhooks go to public addresses only. Use a public host, or a tunnel while you develop."],
  [/no longer subscribes/i, "Subscribe to the event again, then recover what was missed."],
  [/discarded while/i, "You had it discarded. Redeliver sends it all the same."],
  [/endpoint was deleted/i, "There is nowhere to send it."],
  [/connection failed/i, "It broke off on the way. If that stays, look at your firewall and proxy."],
];

export function failureAdvice(error: string | null | undefined, status: number | null | undefined): string {
  const byWords = BY_WORDS.find(([pattern]) => error && pattern.test(error));
  if (byWords) return byWords[1];
  if (status && BY_STATUS[status]) return BY_STATUS[status];
  if (status && status >= 500)
    return "Your endpoint, or a proxy in front of it, met an error of its own. See its log.";
  if (status && status >= 300 && status < 400)
    return "Redirects are not followed. Set the URL to the final address.";
  return "Look at your endpoint’s log at that time; the attempt’s request and answer are shown in full.";
}
