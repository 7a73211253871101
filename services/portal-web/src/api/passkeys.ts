// Passkeys of the own account: of a portal user, or of a person of the operator's staff.
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from "@simplewebauthn/browser";
import { useMutation, useQuery } from "@tanstack/react-query";
import { answer, api } from "./client";
import { operatorAnswer } from "./operator-session";
import { browserFailure } from "./passkey-failure";
import type { AccountScope } from "./recent-authentication";
import { factorKey, useRefetchFactor } from "./second-factor";

/** A credential as the browser returns it. */
type Credential = Record<string, unknown>;

/** What proves the second factor. */
export type FactorAnswer = { code: string } | { passkey: Credential };

/** What a passkey is used for. */
export type PasskeyUse = "logIn" | "confirm";

const CALLS = {
  portal: {
    list: () => answer(api.GET("/v1/portal/second-factor/passkeys")),
    options: () => answer(api.POST("/v1/portal/second-factor/passkeys/options")),
    add: (body: Addition) => answer(api.POST("/v1/portal/second-factor/passkeys", { body })),
    remove: (id: string) =>
      answer(api.DELETE("/v1/portal/second-factor/passkeys/{id}", { params: { path: { id } } })),
    logIn: () => answer(api.POST("/v1/portal/session/second-factor/passkey-options")),
    confirm: () => answer(api.POST("/v1/portal/session/confirm/passkey-options")),
  },
  operator: {
    list: () => operatorAnswer(api.GET("/v1/operator/second-factor/passkeys")),
    options: () => operatorAnswer(api.POST("/v1/operator/second-factor/passkeys/options")),
    add: (body: Addition) => operatorAnswer(api.POST("/v1/operator/second-factor/passkeys", { body })),
    remove: (id: string) =>
      operatorAnswer(api.DELETE("/v1/operator/second-factor/passkeys/{id}", { params: { path: { id } } })),
    // Without a session yet.
    logIn: () => answer(api.POST("/v1/operator/session/second-factor/passkey-options")),
    confirm: () => operatorAnswer(api.POST("/v1/operator/session/confirm/passkey-options")),
  },
};

interface Addition {
  name: string;
  passkey: Credential;
}

/** Whether pages at this address can use passkeys of this origin. */
export function isPasskeyOrigin(origin: string | null | undefined): boolean {
  return origin === window.location.origin && window.PublicKeyCredential !== undefined;
}

export function usePasskeys(scope: AccountScope) {
  return useQuery({ queryKey: [...factorKey(scope), "passkeys"], queryFn: CALLS[scope].list });
}

export function useAddPasskey(scope: AccountScope) {
  return useMutation({
    mutationFn: async (name: string) => {
      const { options } = await CALLS[scope].options();
      const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
      const passkey = await startRegistration({ optionsJSON }).catch(browserFailure);
      return CALLS[scope].add({ name, passkey: { ...passkey } });
    },
    onSuccess: useRefetchFactor(scope),
  });
}

export function useRemovePasskey(scope: AccountScope) {
  return useMutation({
    mutationFn: (id: string) => CALLS[scope].remove(id),
    onSuccess: useRefetchFactor(scope),
  });
}

/** Asks the browser for a passkey. The caller sends it. */
export function usePasskey(scope: AccountScope, use: PasskeyUse) {
  return useMutation({
    mutationFn: async () => {
      const { options } = await CALLS[scope][use]();
      const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
      return { passkey: { ...(await startAuthentication({ optionsJSON }).catch(browserFailure)) } };
    },
    gcTime: 0,
  });
}
