package v1

// DestinationType is a way to reach somebody.
//
// +kubebuilder:validation:Enum=Email;Chat;Webhook;Log
type DestinationType string

const (
	// DestinationEmail sends a mail.
	DestinationEmail DestinationType = "Email"
	// DestinationChat posts to a chat room.
	DestinationChat DestinationType = "Chat"
	// DestinationWebhook calls a URL.
	DestinationWebhook DestinationType = "Webhook"
	// DestinationLog writes to the log of the controller. It has no settings.
	DestinationLog DestinationType = "Log"
)

// Destination is where notifications go. Contacts and the receivers of alerts
// inline it.
//
// The union is written as in OpenShift's API: the type is required, and so is the
// member that it names, unless the marker says optional. Log has no member.
type Destination struct {
	// type is the way to send.
	//
	// +unionDiscriminator
	// +required
	Type DestinationType `json:"type"`

	// email is required for the type Email.
	//
	// +unionMember
	// +optional
	Email *Email `json:"email,omitempty"`

	// chat may be left out for the type Chat; the default room is used then.
	//
	// +unionMember,optional
	// +optional
	Chat *Chat `json:"chat,omitempty"`

	// webhook is required for the type Webhook.
	//
	// +unionMember
	// +optional
	Webhook *Webhook `json:"webhook,omitempty"`
}

// Email is a mail.
type Email struct {
	// to is the address.
	//
	// +kubebuilder:validation:MaxLength=320
	// +required
	To string `json:"to"`
}

// Chat is a message in a chat room.
type Chat struct {
	// room is the name of the room.
	//
	// +kubebuilder:validation:MaxLength=80
	// +required
	Room string `json:"room"`
}

// AuthType is a way to log in.
//
// +kubebuilder:validation:Enum=Basic;Bearer
type AuthType string

const (
	// AuthTypeBasic sends a user name and a password.
	AuthTypeBasic AuthType = "Basic"
	// AuthTypeBearer sends a token.
	AuthTypeBearer AuthType = "Bearer"
)

// Webhook is a call of a URL.
//
// Its union is written as in KEP-1027 of 2022: members name their discriminator,
// and since authType is optional, so is logging in.
type Webhook struct {
	// url is what to call.
	//
	// +kubebuilder:validation:MaxLength=2048
	// +required
	URL string `json:"url"`

	// authType is the way to log in, if that is needed.
	//
	// +unionDiscriminator
	// +optional
	AuthType AuthType `json:"authType,omitempty"`

	// basic is for the authType Basic.
	//
	// +unionMember=authType
	// +optional
	Basic *SecretReference `json:"basic,omitempty"`

	// bearer is for the authType Bearer.
	//
	// +unionMember=authType
	// +optional
	Bearer *SecretReference `json:"bearer,omitempty"`
}

// SecretReference names a secret in the same namespace.
type SecretReference struct {
	// secretName is the name of the secret.
	//
	// +kubebuilder:validation:MaxLength=253
	// +required
	SecretName string `json:"secretName"`
}
