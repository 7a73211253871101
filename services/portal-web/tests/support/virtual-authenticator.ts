import type { CDPSession, Page } from "@playwright/test";

/** The same listener by a name: browsers offer no passkeys at IP addresses. */
export function byName(address: string): string {
  return address.replace("//127.0.0.1:", "//localhost:");
}

/** An authenticator of the browser that answers by itself. */
export interface VirtualAuthenticator {
  /** Whether the person passes the check. */
  setVerified: (isUserVerified: boolean) => Promise<void>;
  credentials: () => Promise<number>;
}

export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setVerified: async (isUserVerified) => {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    credentials: async () => {
      const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
      return credentials.length;
    },
  };
}
