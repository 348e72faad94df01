import { Directive, ElementRef, effect, inject, input } from '@angular/core';
import type { SecureUploader, SettingsInput } from 'secure-uploader';

/** Gives `settings` of the element a type. */
@Directive({ selector: 'secure-uploader' })
export class UploaderSettings {
  readonly settings = input.required<SettingsInput>();
  readonly #element = inject<ElementRef<SecureUploader>>(ElementRef).nativeElement;

  constructor() {
    effect(() => Object.assign(this.#element, this.settings()));
  }
}
