// Where the person was before the identity provider's page. The provider sends them back to one page only.

/** What somebody visits the identity provider for. */
export type SsoPurpose = "log_in" | "confirm" | "link";

export interface SsoDeparture {
  purpose: SsoPurpose;
  path: string;
}

/** Leaves for the provider's page. Pending until the person comes back with the browser's button. */
export function departFor(url: string, key: string, purpose: SsoPurpose): Promise<void> {
  const { pathname, search } = window.location;
  sessionStorage.setItem(key, JSON.stringify({ purpose, path: pathname + search }));
  window.location.assign(url);
  return new Promise<void>((resolve) => {
    window.addEventListener("pageshow", () => resolve(), { once: true });
  });
}

/** The page that the person left. It is of this origin, because this origin has stored it. */
export function storedDeparture(key: string): SsoDeparture | null {
  const stored = sessionStorage.getItem(key);
  return stored ? (JSON.parse(stored) as SsoDeparture) : null;
}
