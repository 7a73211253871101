import { Button, Group, Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { useRemoveUser } from "../../api/team";
import type { ApiKey, User } from "../../api/types";
import { ConfirmDialog } from "../../components/confirm-dialog";
import { Dialog } from "../../components/dialog";
import { RotateKeyDialog } from "../api-keys/rotate-key-dialog";
import { KeysOfUser } from "./keys-of-user";

interface RemoveUserProps {
  user: User;
  onClose: () => void;
}

/**
 * Removes a user, and offers to rotate the user's keys, before and after. It is rendered outside the table's rows, because the
 * user's row disappears. While a key is rotated, the other dialogs wait.
 */
export function RemoveUser({ user, onClose }: RemoveUserProps) {
  const remove = useRemoveUser();
  const leavesKeys = useRef(false);
  const [isRemoved, setIsRemoved] = useState(false);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const rotate = (key: ApiKey) => {
    setRotating(key);
    setIsAsking(true);
  };

  async function act() {
    const removed = await remove.mutateAsync(user.id);
    leavesKeys.current = !user.you && removed?.keys?.length !== 0;
  }

  return (
    <>
      <ConfirmDialog
        opened={!isRemoved && !rotating}
        onClose={() => (leavesKeys.current ? setIsRemoved(true) : onClose())}
        title={`Remove ${user.email}?`}
        description={
          user.you ? (
            "You lose access to this business and are logged out."
          ) : (
            <>
              The user is logged out within seconds and can no longer log in to your business. The audit log
              keeps the user’s actions.
              <KeysOfUser user={user} onRotate={rotate} />
            </>
          )
        }
        confirm="Remove"
        onConfirm={act}
      />
      <Dialog
        opened={isRemoved && !rotating}
        onClose={onClose}
        title={<Text fw={600}>{user.email} is removed</Text>}
      >
        <Stack>
          <div>
            The user can no longer log in to your business.
            <KeysOfUser user={user} onRotate={rotate} />
          </div>
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      </Dialog>
      {rotating && (
        <RotateKeyDialog
          apiKey={rotating}
          opened={isAsking}
          onClose={() => setIsAsking(false)}
          onEnd={() => setRotating(null)}
        />
      )}
    </>
  );
}
