import type { ReactNode } from "react";
import type { InvitationPreview } from "../../api/types";
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from "../../app/session";
import { Time } from "../../components/time";
import { AuthFrame } from "./auth-frame";

export interface InvitationProps {
  token: string;
  invitation: InvitationPreview;
}

/** Says which business invites, and as what. */
export function InvitationFrame({
  invitation,
  children,
}: {
  invitation: InvitationPreview;
  children: ReactNode;
}) {
  return (
    <AuthFrame
      title={`Join ${invitation.businessName}`}
      description={
        <>
          You are invited as <strong>{ROLE_LABELS[invitation.role].toLowerCase()}</strong>.{" "}
          {ROLE_DESCRIPTIONS[invitation.role]}
        </>
      }
      footer={
        <>
          The invitation expires <Time at={invitation.expiresAt} relative />.
        </>
      }
    >
      {children}
    </AuthFrame>
  );
}
