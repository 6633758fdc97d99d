import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "style"> {
  readonly look?: "plain" | "primary" | "danger" | "ghost";
  readonly size?: "s" | "m";
  /** Only an icon: then a label says what it is. */
  readonly icon?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly children: ReactNode;
}

export function Button({ look = "plain", size = "m", icon = false, children, ...rest }: ButtonProps): ReactNode {
  return (
    <button type="button" {...rest} className="button" data-look={look} data-size={size} data-icon={icon || undefined}>
      {children}
    </button>
  );
}
