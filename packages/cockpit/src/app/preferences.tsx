import { Languages, LogOut, SunMoon } from "lucide-react";
import { useSyncExternalStore, type ReactNode } from "react";
import { chooseLanguage, type Language } from "../i18n/languages.ts";
import { useLanguage, useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { sayFailure } from "../ui/toasts.tsx";
import { useApi } from "./app-context.ts";
import { chooseTheme, theme, type Theme } from "./theme.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const CHOICES: readonly Language[] = ["en", "zh"];

/** How the cockpit looks and speaks, and the way out where one had to sign in. */
export function Preferences(): ReactNode {
  const t = useMessages().common;
  const { session } = useApi();
  const chosenTheme = useSyncExternalStore(theme.subscribe, theme.get);
  const chosenLanguage = useLanguage();
  return (
    <>
      <Choice
        label={t.theme.label}
        icon={<SunMoon aria-hidden />}
        values={THEMES}
        names={t.theme}
        chosen={chosenTheme}
        onChoose={chooseTheme}
      />
      <Choice
        label={t.language.label}
        icon={<Languages aria-hidden />}
        values={CHOICES}
        names={t.language}
        chosen={chosenLanguage}
        onChoose={(chosen) => void chooseLanguage(chosen).catch(sayFailure)}
      />
      {session.hasToken ? (
        <Button
          look="ghost"
          icon
          aria-label={t.signIn.signOut}
          title={t.signIn.signOut}
          onClick={() => session.signOut()}
        >
          <LogOut aria-hidden />
        </Button>
      ) : null}
    </>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly icon: ReactNode;
  readonly values: readonly Value[];
  readonly names: Readonly<Record<Value, string>>;
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

function Choice<Value extends string>(props: ChoiceProps<Value>): ReactNode {
  const { label, icon, values, names, chosen, onChoose } = props;
  const items = values.map((value) => ({
    label: names[value],
    isChosen: value === chosen,
    onSelect: () => onChoose(value),
  }));
  return (
    <Menu
      side="top"
      trigger={
        <Button look="ghost" icon aria-label={label} title={label}>
          {icon}
        </Button>
      }
      groups={[{ label, items }]}
    />
  );
}
