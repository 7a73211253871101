import { Alert, Button, Stack } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { AuthFrame } from "./auth-frame";

interface PasswordSavedProps {
  title: string;
  message: string;
  /** The page to log in at. */
  logIn: string;
}

/** After a link has set a password. */
export function PasswordSaved({ title, message, logIn }: PasswordSavedProps) {
  return (
    <AuthFrame title={title}>
      <Stack>
        <Alert role="status" variant="light" color="gray" icon={<IconCircleCheck aria-hidden />}>
          {message}
        </Alert>
        <Button component={Link} to={logIn} fullWidth>
          Log in
        </Button>
      </Stack>
    </AuthFrame>
  );
}
