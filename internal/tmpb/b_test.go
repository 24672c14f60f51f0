package tmpb
import ("testing";"os"
 "github.com/unioncel/unioncel/internal/yamltext"
 "github.com/unioncel/unioncel/pkg/crdpatch"
 sigs "sigs.k8s.io/yaml"
 "context"
 "encoding/json"
 sj "sigs.k8s.io/json"
 apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)
var files=[]string{"argoproj.io_applications","cert-manager.io_issuers","external-secrets.io_secretstores","hypershift.openshift.io_hostedclusters","monitoring.coreos.com_scrapeconfigs","argoproj.io_applicationsets","config.openshift.io_infrastructures"}
func BenchmarkX(b *testing.B){
 for _,f:=range files{ src,_:=os.ReadFile("../../../shared/corpus/declared/"+f+".yaml")
  b.Run(f+"/v3",func(b *testing.B){for b.Loop(){ yamltext.Parse(src)}})
  b.Run(f+"/v3+value",func(b *testing.B){for b.Loop(){ x,_:=yamltext.Parse(src); x.Value(x.Docs[0])}})
  b.Run(f+"/v3+span",func(b *testing.B){for b.Loop(){ x,_:=yamltext.Parse(src); x.Span(x.Docs[0],x.Docs[0].Root)}})
  b.Run(f+"/sigsjson",func(b *testing.B){for b.Loop(){ sigs.YAMLToJSON(src)}})
  js,_:=sigs.YAMLToJSON(src)
  b.Run(f+"/json2typed",func(b *testing.B){for b.Loop(){ c:=&apiextensionsv1.CustomResourceDefinition{}; sj.UnmarshalCaseSensitivePreserveInts(js,c)}})
  b.Run(f+"/json2any",func(b *testing.B){for b.Loop(){ var v any; json.Unmarshal(js,&v)}})
  var out []byte
  b.Run(f+"/compile",func(b *testing.B){for b.Loop(){ out,_=crdpatch.Compile("x",src,crdpatch.Options{})}})
  b.Run(f+"/validate",func(b *testing.B){
   c:=&apiextensionsv1.CustomResourceDefinition{}
   sigs.Unmarshal(out,c)
   apiextensionsv1.SetDefaults_CustomResourceDefinition(c)
   o:=&apiextensions.CustomResourceDefinition{}
   apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(c,o,nil)
   for b.Loop(){ validation.ValidateCustomResourceDefinition(context.Background(),o)}})
 }
}
